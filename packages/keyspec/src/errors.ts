import { isVouched, unquoted } from './unquoted.ts'

/** What every Keyspec error has: a `code` to branch on, the `key` it concerns where there is one, the cause kept. */
export abstract class KeyspecError extends Error {
  abstract readonly code: `E_${string}`
  readonly key: string | undefined

  constructor(message: string, key?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.key = key
  }
}

/** A declaration that cannot keep its promises; thrown while declaring or opening, before any I/O. */
export class SchemaError extends KeyspecError {
  readonly code = 'E_SCHEMA'
}

/** A value that cannot stand in a key: empty, with a `:`, or one that would not parse back. */
export class KeyError extends KeyspecError {
  readonly code = 'E_KEY'
}

/** A value that its codec refused on write; nothing was sent. Neither the message nor the cause quotes the value. */
export class EncodeError extends KeyspecError {
  readonly code = 'E_ENCODE'

  /** @param value - The refused value, so that nothing of it stays in the words of the cause. */
  constructor(key: string, codec: string, cause: unknown, value?: unknown) {
    const quotesNothing = withoutValue(cause, value)
    super(
      `${key}: not written, the value is not ${codec}: ${wordsOf(quotesNothing, key)}`,
      key,
      quotesNothing,
    )
  }
}

/**
 * A stored value that its codec cannot read; the value is left as it is. Neither the message nor the cause quotes the
 * value: they say which codec, where in the value, and how long it is.
 */
export class DecodeError extends KeyspecError {
  readonly code = 'E_DECODE'

  /** @param value - The stored form, so that nothing of it stays in the words of the cause. */
  constructor(key: string, codec: string, cause: unknown, value?: unknown) {
    const quotesNothing = withoutValue(cause, value)
    super(`${key}: holds a value that is not ${codec}: ${wordsOf(quotesNothing, key)}`, key, quotesNothing)
  }
}

/** A script that failed inside the server for a reason of its own, with its name and line. */
export class ScriptError extends KeyspecError {
  readonly code = 'E_SCRIPT'
  readonly script: string

  constructor(script: string, key: string | undefined, cause: unknown) {
    super(`${key === undefined ? '' : `${key}: `}script ${script} failed: ${reason(cause)}`, key, cause)
    this.script = script
  }
}

/** Work was finished under a lease that had already passed to somebody else; nothing was changed. */
export class LeaseLostError extends KeyspecError {
  readonly code = 'E_LEASE_LOST'
}

/** A load of a cache that took longer than its `loadTimeout`, here or in other processes; nothing was written. */
export class LoadTimeoutError extends KeyspecError {
  readonly code = 'E_LOAD_TIMEOUT'
}

/**
 * A load of a cache that failed in another process, or a moment ago where `failureTtl` is declared. The error itself went to
 * the callers of that load; its message stays there, as it may quote values.
 */
export class LoadFailedError extends KeyspecError {
  readonly code = 'E_LOAD_FAILED'
  /** The name and the code of the error, where each is a word of at most 64 letters. */
  readonly failure: { readonly name: string; readonly code: string | undefined }

  constructor(
    message: string,
    key: string,
    failure: { readonly name: string; readonly code: string | undefined },
  ) {
    super(message, key)
    this.failure = failure
  }
}

/** A value that others kept writing while it was to be changed by what it is; nothing was written. */
export class ConflictError extends KeyspecError {
  readonly code = 'E_CONFLICT'
}

/** A migration that would lose a value or a lifetime, and so was not carried on. */
export class MigrationError extends KeyspecError {
  readonly code = 'E_MIGRATION'
}

/** A key that exists under its new name and under an old one; nothing was read or written. A plan of the migration counts such keys. */
export class TwoNamesError extends KeyspecError {
  readonly code = 'E_TWO_NAMES'
}

/** A rename whose phase may not run beside one that other programs use now; nothing was read or written. */
export class PhaseError extends KeyspecError {
  readonly code = 'E_PHASE'
}

/** A call that was not sent because the guard holds Redis to be down; see `guarded`. */
export class UnavailableError extends KeyspecError {
  readonly code = 'E_UNAVAILABLE'
}

/**
 * The connection was lost, or no answer came in time, after the command was handed to the socket: the server may have
 * applied it once, or not at all. The client's own error is the cause. `docs/guarantees.md` says it of each verb.
 */
export class UnknownOutcomeError extends KeyspecError {
  readonly code = 'E_UNKNOWN_OUTCOME'
}

/** The command was never handed to the socket, so the server has not applied it. The client's own error is the cause. */
export class NotSentError extends KeyspecError {
  readonly code = 'E_NOT_SENT'
}

/**
 * The program began a transaction (MULTI) over the client, so the server queued the command and gave no answer. The command runs
 * with the program's EXEC, if at all.
 */
export class InTransactionError extends KeyspecError {
  readonly code = 'E_IN_TRANSACTION'
}

/** The client gives replies in forms that no supported version gives; the command was done, and nothing of its reply was used. */
export class UnsupportedClientError extends KeyspecError {
  readonly code = 'E_UNSUPPORTED_CLIENT'
}

/** The server's clock was in another window of a quota each time that it was asked; nothing was taken. */
export class ClockError extends KeyspecError {
  readonly code = 'E_CLOCK'
}

/** An argument of a type or a form that no call takes, or such a value of a function that was given; nothing was sent. */
export class ArgumentTypeError extends TypeError {
  get code() {
    return 'E_ARGUMENT' as const
  }
}

/** An argument beyond what a call takes; nothing was sent. */
export class ArgumentRangeError extends RangeError {
  get code() {
    return 'E_ARGUMENT' as const
  }
}

/** The words of whatever was thrown. */
export function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** The words of a cause behind a message that names the key already: what the server said, without where it said it. */
function wordsOf(cause: Error, key: string): string {
  let inner = cause
  while (inner instanceof ScriptError && inner.cause instanceof Error) inner = inner.cause
  const { reply } = inner as { readonly reply?: unknown }
  if (typeof reply === 'string')
    // Valkey 9 names the line without the script.
    return reply.replace(/^ERR /, '').replace(/ script: (?:[0-9a-f]{40}, )?on @user_script:\d+\.?$/, '')
  return inner.message.startsWith(`${key}: `) ? inner.message.slice(key.length + 2) : inner.message
}

/** An error as it is where its words quote nothing of the value and it carries nothing else, or a copy that does neither. */
export function withoutValue(cause: unknown, value: unknown): Error {
  if (cause instanceof KeyspecError || isVouched(cause)) return cause
  const [name, message, frames] =
    cause instanceof Error
      ? [cause.name, cause.message, framesOf(cause)]
      : ['Error', typeof cause === 'string' ? cause : `a ${typeof cause} was thrown`, '']
  const words = unquoted(message, value) ?? `its ${name} is left out, since it quotes the value`
  if (
    cause instanceof Error &&
    words === message &&
    Object.keys(cause).length === 0 &&
    cause.cause === undefined
  )
    return cause
  const copy = new Error(words)
  copy.name = name
  copy.stack = `${name}: ${words}${frames}`
  return copy
}

function framesOf({ stack = '' }: Error): string {
  const at = stack.search(/\n {4}at /)
  return at === -1 ? '' : stack.slice(at)
}
