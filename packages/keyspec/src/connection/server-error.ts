import { KeyspecError, reason } from '../errors.ts'
import { type Command, type Shape, firstKeyOf, keysOf } from './connection.ts'
import { adviceOn, type Denial, denialOf } from './denial.ts'

const REDIRECTED = /^(MOVED|ASK) /

/** A redirection that a cluster client gave up to follow, as while a slot moves. */
const FOLLOWED = {
  code: 'E_NOT_READY',
  advice: 'the cluster moves the key to another node; try again',
} as const

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
    // A command that waits on a master is refused in the last of these words when the master becomes a replica.
    words: /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY\b|NOREPLICAS|MISCONF|UNBLOCKED force unblock)/,
    code: 'E_NOT_READY',
    advice: 'the server answers but cannot serve yet; try again',
  },
  {
    words: REDIRECTED,
    code: 'E_WRONG_NODE',
    advice:
      'another node of the cluster has the key, and this client does not follow; use a client for clusters and its adapter',
  },
  {
    words: /^(NOAUTH|WRONGPASS|ERR AUTH|ERR invalid password)/,
    code: 'E_DENIED',
    advice: 'check the user and its password',
  },
  {
    // Redis 6.2 wraps what a script was answered in words of its own.
    words: /^ERR (?:Error running script .*@user_script: ?\d+: )?unknown (?:redis )?command/is,
    code: 'E_TOO_OLD',
    advice: 'Keyspec needs Redis 6.2 or Valkey 7.2, or newer',
  },
  {
    // A read that waits is refused in the latter words if the stream is deleted meanwhile.
    words: /^(NOGROUP|UNBLOCKED the stream key)/,
    code: 'E_NO_GROUP',
    advice: 'the stream or its group is not there, or was deleted; create the group',
  },
  { words: /^CROSSSLOT/, code: 'E_CROSS_SLOT', advice: 'put the same {hash tag} into these patterns' },
  {
    words: /^NOCOUNT/,
    code: 'E_NO_COUNT',
    advice: 'nothing was taken; find out who writes the key, then delete it',
  },
  { words: /^NOSCRIPT/, code: 'E_NO_SCRIPT', advice: 'the script is sent again' },
]

export type ServerErrorCode =
  | 'E_WRONG_TYPE'
  | 'E_OUT_OF_MEMORY'
  | 'E_READ_ONLY'
  | 'E_NOT_READY'
  | 'E_WRONG_NODE'
  | 'E_DENIED'
  | 'E_TOO_OLD'
  | 'E_NO_GROUP'
  | 'E_CROSS_SLOT'
  | 'E_NO_COUNT'
  | 'E_NO_SCRIPT'
  | 'E_SERVER'

/** What an adapter knows of an error reply beside its words. */
interface Told {
  /** What the user lacks; by default what the words say of the command and the key. */
  readonly denial?: Denial | undefined
  /** Whether the client is a cluster's, which follows redirections: then one that arrives here is about to pass. */
  readonly follows?: boolean
}

/** The server answered with an error: its words in `reply`, the command and the key in the message, a code to branch on. */
export class ServerError extends KeyspecError {
  readonly code: ServerErrorCode
  /** The server's own words: `WRONGTYPE Operation against a key holding the wrong kind of value`. */
  readonly reply: string
  /** @internal Whether the message names what the user lacks. */
  readonly isNamed: boolean

  constructor(said: string, command: string, key: string | undefined, cause?: unknown, told: Told = {}) {
    const words = unwrapped(said)
    const denial = told.denial ?? denialOf(words, [command], key === undefined ? [] : [key])
    // A server that does not know a command quotes what was to be written.
    const reply = words.replace(/,? with args beginning with: .*$/s, '')
    const known =
      denial === undefined
        ? told.follows === true && REDIRECTED.test(reply)
          ? FOLLOWED
          : KNOWN.find(({ words: known }) => known.test(reply))
        : ({ code: 'E_DENIED', advice: adviceOn(denial) } as const)
    const place = key === undefined ? command : `${key}: ${command}`
    super(
      `${place} was refused: ${reply}${known === undefined ? '' : ` (${known.advice})`}`,
      key,
      reply === words ? cause : undefined,
    )
    this.code = known?.code ?? 'E_SERVER'
    this.reply = reply
    this.isNamed = denial !== undefined && denial.rules.length > 0
  }
}

/**
 * What an adapter rejects with: a `ServerError` when the message is the server's (it starts with a code in capitals, or
 * with the place in a script, as every error reply does and no client's own message), else the client's error as it is.
 */
export function refusal(
  error: unknown,
  command: Command,
  shape: Shape,
  {
    words = reason(error),
    follows = false,
  }: { readonly words?: string | undefined; readonly follows?: boolean } = {},
): unknown {
  return /^[A-Z][A-Z0-9_]+(?: |$)/.test(words) || RETURNED.test(words)
    ? refused(words, command, shape, { cause: error, follows })
    : error
}

/** The error for a command that the server refused, for adapters; the arguments behind the key stay out of the message. */
export function refused(
  reply: string,
  command: Command,
  shape: Shape,
  { cause, follows = false }: { readonly cause?: unknown; readonly follows?: boolean } = {},
): ServerError {
  const words = unwrapped(reply)
  const denial = denialOf(words, command, keysOf(command, shape))
  return new ServerError(words, String(command[0]), firstKeyOf(command, shape), cause, { denial, follows })
}

/**
 * Redis 6.2 wraps what a command inside a script was answered. The error of a command that it refused itself has no code
 * if the script returns it. Unwrapped, the code is the same everywhere.
 */
function unwrapped(reply: string): string {
  const coded = /@user_script: ?\d+: -?(?=[A-Z]+ )(.*)$/s.exec(reply)?.[1]
  if (coded !== undefined) return coded.trimEnd()
  const bare = RETURNED.exec(reply)?.[1]
  return bare === undefined ? reply : `ERR ${bare.trimEnd()}`
}

const RETURNED = /^@user_script: ?\d+: (.*)$/s

/**
 * Whether an error means that Redis could not be reached or cannot serve now (rather than that it answered no): then
 * a recipe does what it declared for that case. Everything that is not Keyspec's own is the client's: connection lost, time-out.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return false
  if (!(error instanceof KeyspecError)) return true
  return UNAVAILABLE.has(error.code)
}

const UNAVAILABLE: ReadonlySet<string> = new Set([
  'E_UNAVAILABLE',
  'E_NOT_SENT',
  'E_UNKNOWN_OUTCOME',
  'E_NOT_READY',
  'E_READ_ONLY',
])
