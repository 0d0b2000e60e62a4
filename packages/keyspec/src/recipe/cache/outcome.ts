import { LoadFailedError } from '../../errors.ts'

/** How a load ended that wrote nothing, as it stands in place of its lock. */
export interface LoadOutcome {
  /** The token under which the load held the lock. */
  readonly owner: string
  /** For all who ask while it stands, or only for those who were waiting for that load. */
  readonly forAll: boolean
  /** The name and the code of the error; `undefined` where the load gave `undefined`. */
  readonly failure: Failure | undefined
}

/** What other processes learn of an error: its class and its code, never its message, which may quote a value. */
export interface Failure {
  readonly name: string
  readonly code: string
}

// A word each, so that an outcome is never mistaken for the token of a lock, which is one word without a space.
const FORM = /^load (?:absent|failed:(\w{1,64}):(\w{0,64})) (all|waiting) (\S{1,64})$/

/** The text of an outcome. */
export function outcomeText({ owner, forAll, failure }: LoadOutcome): string {
  const kind = failure === undefined ? 'absent' : `failed:${failure.name}:${failure.code}`
  return `load ${kind} ${forAll ? 'all' : 'waiting'} ${owner}`
}

/** The outcome that stands in a lock's place, or `undefined` where it is the token of a lock. */
export function outcomeOf(stored: string): LoadOutcome | undefined {
  const [found, name, code = '', whom, owner] = FORM.exec(stored) ?? []
  if (found === undefined) return undefined
  return {
    owner: owner!,
    forAll: whom === 'all',
    failure: name === undefined ? undefined : { name, code },
  }
}

/** What may be told of whatever a load threw: a name and a code that are words of at most 64 letters. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', code: '' }
  const { code } = error as { readonly code?: unknown }
  return { name: word(error.name) ?? 'Error', code: word(code) ?? '' }
}

/** The error of those who did not load themselves. */
export function failedElsewhere(key: string, { name, code }: Failure): LoadFailedError {
  const what = code === '' ? name : `${name} (${code})`
  return new LoadFailedError(
    `${key}: the load failed with ${what}; only the caller that loaded was given the error itself`,
    key,
    { name, code: code === '' ? undefined : code },
  )
}

function word(text: unknown): string | undefined {
  return typeof text === 'string' && /^\w{1,64}$/.test(text) ? text : undefined
}
