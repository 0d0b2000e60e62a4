import { count, counted, time } from './units.ts'

/** How far something is. */
export interface Headway {
  readonly done: number
  readonly total: number
  readonly perSecond: number
}

/** How far something is, how fast it goes and how long it takes still: `600 of 2,000 keys (30%), 150/s, 9 s left`. */
export function headway({ done, total, perSecond }: Headway): string {
  const share = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))
  const so = `${count(done)} of ${counted(Math.max(done, total), 'key')} (${share}%)`
  if (done === 0 || perSecond === 0) return so
  return `${so}, ${count(perSecond)}/s, ${time((Math.max(0, total - done) / perSecond) * 1000)} left`
}
