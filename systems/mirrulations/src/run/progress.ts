import type { Statistics } from '../server/statistics.ts'
import { bar, type Screen } from '@keyspec-systems/program'

/** How the backlog stands, in two lines. */
export function progress(statistics: Statistics, elapsedMs: number, { width, dim }: Screen): string[] {
  const count = (name: string) => Number(statistics[name] ?? 0)
  const done = count('jobs_done') + count('invalid_jobs')
  const all = done + count('jobs_waiting') + count('jobs_in_progress')
  const perSecond = elapsedMs > 0 ? Math.round((done * 1000) / elapsedMs) : 0
  const head = `${bar(all === 0 ? 0 : done / all, Math.min(30, width - 50))} ${done}/${all} jobs`
  const state = `${count('jobs_waiting')} waiting, ${count('jobs_in_progress')} in progress, ${count('invalid_jobs')} invalid, ${perSecond}/s`
  const kinds = ['dockets', 'documents', 'comments', 'attachments'].map(
    (kind) => `${kind} ${count(`num_${kind}_done`)}`,
  )
  return [`${head}  ${state}`, dim(kinds.join('  '))]
}
