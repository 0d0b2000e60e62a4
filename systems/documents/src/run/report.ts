import type { Documents } from '../keyspace.ts'
import { stages } from '../pipeline/document-state.ts'
import { quantile } from '../worker/metrics.ts'
import { table } from '@keyspec-systems/program'

/** What a batch came to: documents, jobs, failures, hits. */
export async function summary(keys: Documents, batchId: string): Promise<string> {
  const progress = (await keys.batchProgress({ batchId }).get()) ?? {}
  const stats = (await keys.batchStats({ batchId }).get()) ?? {}
  const words = [
    `${progress.total ?? 0} documents`,
    `${progress.completed ?? 0} completed`,
    `${progress.incomplete ?? 0} incomplete (pages need OCR)`,
    `${progress.failed ?? 0} failed`,
    `${stats.jobs_completed ?? 0} stage jobs done`,
    `${stats.jobs_failed ?? 0} failures`,
    `${stats.cache_hits ?? 0} cache hits`,
  ]
  return words.join(', ')
}

/** How many of a batch's documents have ended, of how many. */
export async function ended(keys: Documents, batchId: string): Promise<{ done: number; total: number }> {
  const { completed, incomplete, failed, total } = (await keys.batchProgress({ batchId }).get()) ?? {}
  const of = (count: string | number | undefined) => Number(count ?? 0)
  return { done: of(completed) + of(incomplete) + of(failed), total: of(total) }
}

/** The latency of each stage, from the metrics in Redis: count, median and 99th percentile in ms, failures. */
export async function latencyTable(keys: Documents, batchId: string): Promise<string[]> {
  const took = new Map<string, number[]>()
  const failures = new Map<string, number>()
  for await (const { key } of keys.pipelineMetric.scan()) {
    const metric = await key.get()
    if (metric?.batch_id !== batchId) continue
    took.set(metric.stage, [...(took.get(metric.stage) ?? []), metric.duration_ms])
    if (metric.outcome === 'failed') failures.set(metric.stage, (failures.get(metric.stage) ?? 0) + 1)
  }
  const rows = stages.map((stage) => {
    const all = (took.get(stage) ?? []).toSorted((a, b) => a - b)
    const ms = (part: number) => quantile(all, part).toFixed(1)
    return [stage, String(all.length), ms(0.5), ms(0.99), String(failures.get(stage) ?? 0)]
  })
  return table(['stage', 'jobs', 'median ms', 'p99 ms', 'failed'], rows)
}
