import type { Key } from 'keyspec'
import type { Courtlistener } from './schema.ts'
import { defaults, type Settings } from './settings.ts'
import { readable } from './state/readable.ts'

/** One key, as a cleanup judges it. */
export interface Judged {
  /** The entry of the schema. */
  readonly entry: keyof Courtlistener
  readonly key: string
  /** Since its hour began, its task started, or its state was written; `undefined` where nothing tells. */
  readonly ageMs: number | undefined
  readonly ttlMs: number | 'forever'
  /** Past the lifetime that its entry declares: left behind by a program that gave it no, or too long, a time to live. */
  readonly isPastPolicy: boolean
  readonly isDeleted: boolean
}

/** How a cleanup is done. */
export interface CleanupOptions {
  /** `false` deletes; otherwise it is only told what would go. */
  readonly dryRun?: boolean
  readonly settings?: Settings
  readonly now?: Date
}

const HOUR_MS = 3_600_000

/**
 * Looks at every key of the system, found with SCAN, and deletes those that are past their policy. A key whose age nothing
 * tells is kept.
 */
export async function* cleanup(
  keys: Courtlistener,
  { dryRun = true, settings = defaults, now = new Date() }: CleanupOptions = {},
): AsyncGenerator<Judged> {
  const counterMs = settings.counterTtlHours * HOUR_MS
  const stateMs = settings.stateTtlHours * HOUR_MS

  async function judged(
    entry: keyof Courtlistener,
    key: Key,
    since: Date | undefined,
    livesMs: number,
  ): Promise<Judged | undefined> {
    const ttlMs = await key.ttlMs()
    if (ttlMs === undefined) return undefined
    const written = ttlMs === 'forever' ? undefined : now.getTime() - (livesMs - ttlMs)
    const sinceMs = since?.getTime() ?? written
    const ageMs = sinceMs === undefined ? undefined : Math.max(0, now.getTime() - sinceMs)
    const isPastPolicy = ageMs !== undefined && ageMs > livesMs
    const isDeleted = isPastPolicy && !dryRun && (await key.delete())
    return { entry, key: key.name, ageMs, ttlMs, isPastPolicy, isDeleted }
  }

  for (const entry of ['calls', 'failed', 'failedReasons', 'retried'] as const) {
    for await (const { params, key } of keys[entry].scan()) {
      // What was written at the end of the hour has lived an hour less than its hour.
      const found = await judged(entry, key, params.hour, counterMs + HOUR_MS)
      if (found !== undefined) yield found
    }
  }
  for await (const { key } of keys.run.scan()) {
    // Each by itself: one that cannot be read does not hide the other.
    const at = (await readable(key.getField('last_updated'))) ?? (await readable(key.getField('start_time')))
    const found = await judged('run', key, at, stateMs)
    if (found !== undefined) yield found
  }
  for await (const { key } of keys.taskStart.scan()) {
    const found = await judged('taskStart', key, await readable(key.get()), stateMs)
    if (found !== undefined) yield found
  }
  for (const entry of ['finished', 'taskDurations'] as const) {
    for await (const { params, key } of keys[entry].scan()) {
      const at = await readable(keys.run(params).getField('last_updated'))
      const found = await judged(entry, key, at, stateMs)
      if (found !== undefined) yield found
    }
  }
}
