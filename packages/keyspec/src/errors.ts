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

/** A value that its codec refused on write; nothing was sent. */
export class EncodeError extends KeyspecError {
  readonly code = 'E_ENCODE'

  constructor(key: string, codec: string, cause: unknown) {
    super(`${key}: not written, the value is not ${codec}: ${reason(cause)}`, key, cause)
  }
}

/** A stored value that its codec cannot read; the value is left as it is. */
export class DecodeError extends KeyspecError {
  readonly code = 'E_DECODE'

  constructor(key: string, codec: string, cause: unknown) {
    super(`${key}: holds a value that is not ${codec}: ${reason(cause)}`, key, cause)
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

/** A value that others kept writing while it was to be changed by what it is; nothing was written. */
export class ConflictError extends KeyspecError {
  readonly code = 'E_CONFLICT'
}

/** A migration that would lose a value or a lifetime, and so was not carried on. */
export class MigrationError extends KeyspecError {
  readonly code = 'E_MIGRATION'
}

/** A call that was not sent because the guard holds Redis to be down; see `guarded`. */
export class UnavailableError extends KeyspecError {
  readonly code = 'E_UNAVAILABLE'
}

/** The words of whatever was thrown. */
export function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
