import { KeyspecError, reason } from '../errors.ts'
import { type Command, type Shape, firstKeyOf } from './connection.ts'

const KNOWN: readonly { words: RegExp; code: ServerErrorCode; advice: string }[] = [
  {
    words: /^WRONGTYPE/,
    code: 'E_WRONG_TYPE',
    advice:
      'another type is stored there than the schema declares; see what TYPE says, and who else writes it',
  },
  {
    words: /^OOM/,
    code: 'E_OUT_OF_MEMORY',
    advice: 'the server is over its maxmemory and evicts nothing that would help; nothing was written',
  },
  {
    words: /^READONLY/,
    code: 'E_READ_ONLY',
    advice: 'this server is a replica; connect to the master, or wait for the failover to end',
  },
  {
    words: /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY\b|NOREPLICAS|MISCONF|MOVED|ASK\b)/,
    code: 'E_NOT_READY',
    advice: 'the server answers but cannot serve yet; try again',
  },
  {
    words: /^(NOAUTH|WRONGPASS|NOPERM|ERR AUTH|ERR invalid password)/,
    code: 'E_DENIED',
    advice: 'check the user, its password and its ACL',
  },
  {
    words: /^ERR unknown (redis )?command/i,
    code: 'E_TOO_OLD',
    advice: 'Keyspec needs Redis 6.2 or Valkey 7.2, or newer',
  },
  { words: /^CROSSSLOT/, code: 'E_CROSS_SLOT', advice: 'put the same {hash tag} into these patterns' },
  { words: /^NOSCRIPT/, code: 'E_NO_SCRIPT', advice: 'the script is sent again' },
]

export type ServerErrorCode =
  | 'E_WRONG_TYPE'
  | 'E_OUT_OF_MEMORY'
  | 'E_READ_ONLY'
  | 'E_NOT_READY'
  | 'E_DENIED'
  | 'E_TOO_OLD'
  | 'E_CROSS_SLOT'
  | 'E_NO_SCRIPT'
  | 'E_SERVER'

/** The server answered with an error: its words in `reply`, the command and the key in the message, a code to branch on. */
export class ServerError extends KeyspecError {
  readonly code: ServerErrorCode
  /** The server's own words: `WRONGTYPE Operation against a key holding the wrong kind of value`. */
  readonly reply: string

  constructor(reply: string, command: string, key: string | undefined, cause?: unknown) {
    const known = KNOWN.find(({ words }) => words.test(reply))
    const place = key === undefined ? command : `${key}: ${command}`
    super(`${place} was refused: ${reply}${known === undefined ? '' : ` (${known.advice})`}`, key, cause)
    this.code = known?.code ?? 'E_SERVER'
    this.reply = reply
  }
}

/**
 * What an adapter rejects with: a `ServerError` when the message is the server's (it starts with a code in capitals, as
 * every error reply of Redis does and no client's own message), else the client's error as it is.
 */
export function refusal(
  error: unknown,
  command: Command,
  shape: Shape,
  words: string = reason(error),
): unknown {
  return /^[A-Z][A-Z0-9_]+(?: |$)/.test(words) ? refused(words, command, shape, error) : error
}

/** The error for a command that the server refused, for adapters; the arguments behind the key stay out of the message. */
export function refused(reply: string, command: Command, shape: Shape, cause?: unknown): ServerError {
  return new ServerError(unwrapped(reply), String(command[0]), firstKeyOf(command, shape), cause)
}

/** Redis 6 wraps what a command inside a script was answered: unwrapped, the code is the same everywhere. */
export function unwrapped(reply: string): string {
  return /@user_script: ?\d+: -?(?=[A-Z]+ )(.*)$/s.exec(reply)?.[1] ?? reply
}

/**
 * Whether an error means that Redis could not be reached or cannot serve now (rather than that it answered no): then
 * a recipe does what it declared for that case. Everything that is not Keyspec's own is the client's: connection lost, time-out.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return false
  if (!(error instanceof KeyspecError)) return true
  return error.code === 'E_UNAVAILABLE' || error.code === 'E_NOT_READY' || error.code === 'E_READ_ONLY'
}
