import { count, counted, time } from './units.ts'

/** How far something is, how fast it goes and how long it takes still: `600 of 2,000 keys (30%), 150/s, 9 s left`. */
export function headway(done: number, total: number, startedAtMs: number, nowMs = performance.now()): string {
  const perMs = done / Math.max(1, nowMs - startedAtMs)
  const share = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))
  const so = `${count(done)} of ${counted(Math.max(done, total), 'key')} (${share}%)`
  if (done === 0) return so
  return `${so}, ${count(perMs * 1000)}/s, ${time(Math.max(0, total - done) / perMs)} left`
}
