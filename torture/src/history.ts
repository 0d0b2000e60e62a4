import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How an operation ended: with a value, refused (nothing was applied), or unknown (it may have been applied). */
export type Outcome = { readonly ok: unknown } | { readonly no: string } | { readonly lost: string }

/** One operation of an actor. Times are ms of the monotonic clock. */
export interface Op {
  /** The actor and its number: `a1-node-redis#12`. */
  readonly id: string
  readonly process: string
  readonly recipe: string
  readonly verb: string
  readonly key: string
  readonly asked: unknown
  readonly start: number
  /** Infinity if the process was killed before the operation ended. */
  readonly end: number
  readonly outcome: Outcome
  /** Whether the verb threw instead of rejecting. */
  readonly threw: boolean
}

/** The line that an actor writes before a call. */
export interface Begun {
  readonly n: number
  readonly r: string
  readonly v: string
  readonly k: string
  readonly a?: unknown
  readonly s: number
}

/** The line that an actor writes after a call. */
export type Ended = { readonly n: number; readonly e: number; readonly threw?: true } & Outcome

/** Reads the histories of all actors in a folder, in the order in which the operations began. */
export function readHistories(folder: string): Op[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) =>
      parseHistory(name.slice(0, -'.jsonl'.length), readFileSync(join(folder, name), 'utf8')),
    )
    .sort((a, b) => a.start - b.start)
}

/** Reads the history of one actor. The last line may be cut off, as its process may have been killed. */
export function parseHistory(process: string, text: string): Op[] {
  const begun = new Map<number, Begun>()
  const ended = new Map<number, Ended>()
  for (const line of text.split('\n')) {
    const entry = parsed(line)
    if (entry === undefined) continue
    if ('s' in entry) begun.set(entry.n, entry)
    else ended.set(entry.n, entry)
  }
  return Array.from(begun.values(), (begin) => {
    const end = ended.get(begin.n)
    return {
      id: `${process}#${begin.n}`,
      process,
      recipe: begin.r,
      verb: begin.v,
      key: begin.k,
      asked: begin.a,
      start: begin.s,
      end: end?.e ?? Infinity,
      outcome: end ?? { lost: 'KILLED' },
      threw: end?.threw === true,
    }
  })
}

function parsed(line: string): Begun | Ended | undefined {
  try {
    return JSON.parse(line) as Begun | Ended
  } catch {
    return undefined
  }
}

/** Returns the value of an operation that succeeded; undefined for any other. */
export function valueOf<T>({ outcome }: Op): T | undefined {
  return 'ok' in outcome ? (outcome.ok as T) : undefined
}

/** Whether the operation succeeded. */
export function succeeded({ outcome }: Op): boolean {
  return 'ok' in outcome
}

/** Whether nobody knows if the operation was applied. */
export function isLost({ outcome }: Op): boolean {
  return 'lost' in outcome
}

/** Writes an operation on one line, for a report. */
export function lineOf(op: Op): string {
  const { id, recipe, verb, key, asked, start, end, outcome } = op
  const { ok, no, lost } = outcome as { ok?: unknown; no?: string; lost?: string }
  const what = no === undefined ? (lost === undefined ? JSON.stringify(ok) : `lost ${lost}`) : `no ${no}`
  const times = `${start.toFixed(1)}..${end === Infinity ? '' : end.toFixed(1)}`
  return `${times} ${id} ${recipe}.${verb} ${key} ${asked === undefined ? '' : JSON.stringify(asked)} -> ${what}`
}
