/** What became of one of several merged calls: its own answer or its own error. */
export type Outcome = { readonly reply: Reply } | { readonly error: unknown }

/** How calls of one tick become one command. Calls of one merge must commute unless they share a key. */
export interface Merge {
  /** Calls with the same group can go out together; groups of one run go out side by side. */
  group(call: Command, cluster: boolean): string | number
  /** The calls only read, one key each, which is their first argument. */
  readonly reads?: boolean
  /** Calls of different groups may share a key too, so only neighbours of one group go out together. */
  readonly neighbours?: boolean
  /** How many calls one command may carry: a longer run goes out in chunks, so that none holds the server. */
  readonly most: number
  /** Sends two calls or more of one group as one; answers for each, in order. */
  send(connection: Connection, calls: readonly Command[]): Promise<readonly Outcome[]>
  /** Sends one call that found no neighbour. */
  sendOne(connection: Connection, call: Command): Promise<Reply>
}

/** One argument of a command: text, sent as UTF-8, or bytes as they are. */
export type Argument = string | Uint8Array

/** A command and its arguments, its name in capitals: `['SET', 'a', '1']`. */
export type Command = readonly Argument[]

/**
 * What Redis answers, in the forms of RESP2 whatever the client speaks: maps and sets as flat arrays, doubles as text,
 * booleans as 1 and 0. All strings, nested ones too, are `Buffer`s where the shape asks for bytes.
 */
export type Reply = null | number | string | Buffer | readonly Reply[]

/** What a client must know of a command beside its arguments. Shared constants: a call makes none. */
export interface Shape {
  /** Where the first key stands among the arguments; 0 when the command touches none. */
  readonly firstKey: number
  /** How many keys stand there, one after another; `'rest'` for all that follow. */
  readonly keyCount: number | 'rest'
  /** The strings of the reply come as bytes. */
  readonly bytes?: boolean
  /** The command waits on the server (BLPOP …): its own time counts beside the bound of the adapter. */
  readonly blocks?: boolean
  /** How calls of one tick that stand side by side become one. */
  readonly merge?: Merge
}

/**
 * The port: all that Keyspec needs of a client. It rejects (and never throws) with a `ServerError` when the server
 * answered with an error. Without an answer it rejects within a bound: with a `NotSentError` if the command was certainly not
 * written to the socket, else with an `UnknownOutcomeError`. It sends a command at most once, unless the server refused it.
 * Commands on one key reach the server in the order of the calls. Check your own adapter with `connectionSuite` of keyspec/testing.
 */
export interface Connection {
  /** Names the client in findings and health, nothing else: `'node-redis'`. */
  readonly client: string
  /** Whether keys live in slots, so that commands over several keys must stay in one. */
  readonly cluster: boolean
  /**
   * Whether a command costs this client so much more than the server that small writes of one tick are better sent as one
   * script: so it was measured of ioredis and GLIDE, and not of node-redis.
   */
  readonly dear?: boolean
  send(command: Command, shape: Shape): Promise<Reply>
  /** A connection to each master, for what must visit every node (SCAN); to itself when there is only one. */
  masters(): Promise<readonly Connection[]>
}

/** The second port, for the few recipes that listen: a connection in subscribed mode. */
export interface Subscriber {
  /** Calls `heard` for every message on the channel, until the returned function is called. */
  subscribe(channel: string, heard: (message: string) => void): Promise<() => Promise<void>>
}

/** The shape of a command on one key, as its first argument: GET, HSET, XADD … */
export const ONE_KEY: Shape = { firstKey: 1, keyCount: 1 }

/** `ONE_KEY`, answered in bytes. */
export const ONE_KEY_BYTES: Shape = { firstKey: 1, keyCount: 1, bytes: true }

/** The shape of a command whose arguments are all keys: MGET, UNLINK, EXISTS … */
export const ALL_KEYS: Shape = { firstKey: 1, keyCount: 'rest' }

/** `ALL_KEYS`, answered in bytes. */
export const ALL_KEYS_BYTES: Shape = { firstKey: 1, keyCount: 'rest', bytes: true }

/** The shape of a command that touches no key: PING, INFO, SCAN … */
export const NO_KEY: Shape = { firstKey: 0, keyCount: 0 }

/** The keys that a command touches. */
export function keysOf(command: Command, { firstKey, keyCount }: Shape): string[] {
  if (firstKey === 0) return []
  return command.slice(firstKey, keyCount === 'rest' ? undefined : firstKey + keyCount).map(String)
}

/** The first key that a command touches, if any: what a cluster routes by. */
export function firstKeyOf(command: Command, { firstKey, keyCount }: Shape): string | undefined {
  if (firstKey === 0 || keyCount === 0 || firstKey >= command.length) return undefined
  const key = command[firstKey]!
  return typeof key === 'string' ? key : Buffer.from(key).toString()
}
