import { KeyspecError } from '../packages/keyspec/src/errors.ts'
import { isUnavailable } from '../packages/keyspec/src/connection/server-error.ts'
import type { TemporaryRedis } from '../packages/keyspec/src/testing/index.ts'
import type { Row, Runner } from './measured.ts'
import { type RawState, rawStates, shown } from './raw-state.ts'

/** The answer of a verb, and the state that it left, as texts that no random or passing value is part of. */
export interface Told {
  readonly answer: unknown
  readonly state: RawState
}

/** Waits for a call. An error counts by its code. */
export async function answerOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (error) {
    if (error instanceof KeyspecError || isUnavailable(error)) return { code: (error as KeyspecError).code }
    throw error
  }
}

/** The states that verbs left, with their answers. */
export async function told(
  redis: TemporaryRedis,
  { prefixOf }: Runner,
  answers: ReadonlyMap<Row, unknown>,
): Promise<ReadonlyMap<Row, Told>> {
  const states = await rawStates(redis, [...answers.keys()].map(prefixOf))
  return new Map(
    [...answers].map(([row, answer]) => [row, { answer, state: states.get(prefixOf(row))! }] as const),
  )
}

/** What verbs did without a step: as they were prepared, on no state at all, and after the leases had ended. */
export interface References {
  readonly usual: ReadonlyMap<Row, Told>
  readonly absent: ReadonlyMap<Row, Told>
  readonly lapsed: ReadonlyMap<Row, Told>
}

/**
 * What a step of the server's clock by `ms` did to a verb. It is a word where the verb did what it does without a step, or in
 * another state; else its answer.
 */
export function fateOf(row: Row, found: Told, { usual, absent, lapsed }: References, ms: number): string {
  const { verb, name } = row
  const sees = verb.sees ?? 'values'
  const stateOf = ({ state }: Told, step: number) => shown(ofToday(state, step), sees, Date.now() + step)
  const hasAnswer = (other: Told, longerMs: number) => {
    const [wanted] = [plain(other.answer, name, Date.now(), 0)].map((each) => JSON.stringify(each))
    // An instant was stored before the step, or named by the server after it.
    return [0, ms].some(
      (step) => JSON.stringify(plain(found.answer, name, Date.now() + step, longerMs)) === wanted,
    )
  }
  const isLike = (other: Told | undefined, longerMs = 0) =>
    other !== undefined &&
    hasAnswer(other, longerMs) &&
    (!verb.changes || stateOf(found, ms) === stateOf(other, 0))
  if (isLike(usual.get(row))) return 'same'
  if (isLike(usual.get(row), Math.abs(ms))) return 'same, times three days longer'
  if (isLike(absent.get(row))) return 'as if expired'
  if (isLike(lapsed.get(row))) return 'as if the lease had ended'
  const isStored = !hasAnswer(usual.get(row)!, 0) || stateOf(found, ms) !== '[]'
  return `${spelt(row, found.answer, ms)}${isStored ? '' : ', stores nothing'}`
}

/** The counters of a calendar window have its name: those of other windows are left alone. */
function ofToday(state: RawState, step: number): RawState {
  const day = new Date(Date.now() + step).toISOString().slice(0, 10)
  return new Map(
    [...state]
      .filter(([name]) => (/\d{4}-\d\d-\d\d/.exec(name)?.[0] ?? day) === day)
      .map(([name, key]) => [name.replace(day, '<day>'), key]),
  )
}

const TEN_MINUTES = 600_000
const INSTANT_MS = 1e12
const INSTANT_US = 1e15
/** Verbs that return an element at random. */
const RANDOM: ReadonlySet<string> = new Set(['random', 'pop'])

/** A value without what differs from one call to the next: times count in steps of ten minutes. */
function plain(value: unknown, name: string, nowMs: number, longerMs: number): unknown {
  const tens = (ms: number) => `${Math.round(ms / TEN_MINUTES)}0 min`
  const within = (each: unknown): unknown => plain(each, name, nowMs, longerMs)
  const lasting = (ms: number) => tens(ms > longerMs ? ms - longerMs : ms)
  if (value === undefined || value === null) return 'none'
  if (typeof value === 'number') {
    if (value >= INSTANT_US) return `at ${tens(value / 1000 - nowMs)}`
    if (value >= INSTANT_MS) return `at ${tens(value - nowMs)}`
    return value >= 100_000 ? lasting(value) : value
  }
  if (value instanceof Date) return within(value.getTime())
  if (typeof value === 'string') {
    if (RANDOM.has(name)) return 'an element'
    return /^\d{13}-\d+$/.test(value) ? within(Number(value.split('-')[0])) : value
  }
  if (Array.isArray(value)) return value.map(within)
  if (value instanceof Set) return [...value].map(within).toSorted()
  if (value instanceof Map) return [...value].map(within)
  if (typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => field !== 'token')
      .map(([field, each]) =>
        typeof each === 'number' && field.endsWith('Ms') ? [field, lasting(each)] : [field, within(each)],
      ),
  )
}

/** An answer as a cell of the table shows it. */
function spelt({ name, verb }: Row, answer: unknown, ms: number): string {
  const { code } = (answer ?? {}) as { readonly code?: string }
  if (code !== undefined) return `\`${code}\``
  const text = JSON.stringify(plain(answer, name, Date.now() + ms, 0))
  return verb.says?.(answer) ?? `\`${text}\``
}
