import { createHash } from 'node:crypto'
import type { Argument, Command, Connection, Reply, Shape } from '../connection/connection.ts'
import type { Merge, Outcome } from '../connection/merge.ts'
import { ServerError, unwrapped } from '../connection/server-error.ts'
import { slotOf } from '../connection/slot.ts'
import { KeyspecError, SchemaError, ScriptError } from '../errors.ts'
import { type RestArgument, type ScriptArgument, times } from './argument.ts'
import { mergeEqual } from './merge-equal.ts'
import type { ReplyDecoder } from './reply.ts'

type Arguments = { readonly [name: string]: ScriptArgument<any> | RestArgument }

/** What a script takes: a value for each argument it names; those that may be `undefined` can be left out. */
export type ScriptValues<A extends Arguments> = {
  readonly [N in keyof A as undefined extends ValueOf<A[N]> ? never : N]: ValueOf<A[N]>
} & {
  readonly [N in keyof A as undefined extends ValueOf<A[N]> ? N : never]?: ValueOf<A[N]>
}

type ValueOf<A> = A extends ScriptArgument<infer T> ? T : readonly Argument[]

/** A Lua script as a typed function over a connection. */
export interface Script<K extends string, A extends Arguments, R> {
  readonly name: string
  readonly keys: readonly K[]
  /** What Redis runs: the prelude that binds the names, and the body on the same line. */
  readonly source: string
  /** Runs it on these keys; rejects with a `ScriptError` when the script itself fails. */
  run(connection: Connection, keys: ScriptKeys<K>, values: ScriptValues<A>): Promise<R>
}

/** The keys a script is run on; one declared as `old*` stands for several, as text or bytes: a list here, a table in Lua. */
export type ScriptKeys<K extends string> = {
  readonly [N in K as N extends `${infer Bare}*` ? Bare : N]: N extends `${string}*`
    ? readonly Argument[]
    : string
}

/** What describes a script; see `script`. */
export interface ScriptOptions<K extends string, A extends Arguments, R> {
  /** The Lua names of its keys. The last may end in `*`: it takes the keys that remain, as a table. */
  readonly keys: readonly K[]
  /** The Lua names of its arguments, and how each travels. */
  readonly args: A
  readonly lua: string
  readonly reply: ReplyDecoder<R>
  /** The strings of the reply come as bytes. */
  readonly bytes?: boolean
  /**
   * Calls of one tick on the same keys that stand side by side run in one EVALSHA, each with its own answer or error. Not
   * with `rest`. With `true` the body runs once for each of them. A function splits the answer instead: the body then has
   * an argument of the form `times`, which says for how many equal calls it is to decide at once, on one key; equal calls
   * on different keys run in one EVALSHA too (not on a cluster), the body once for each key.
   */
  readonly merge?: boolean | Split
}

/** From the answer for so many equal calls, the answer of each, in the order they were asked. */
export type Split = (reply: Reply, count: number) => readonly Reply[]

/**
 * Describes a script. The Lua body reads its keys and arguments by name: the names are bound in a prelude on the body's
 * first line, so that the line numbers of Redis's errors are those of the `.lua` file.
 */
export function script<const K extends string, A extends Arguments, R>(
  name: string,
  { keys, args, lua, reply, bytes = false, merge = false }: ScriptOptions<K, A, R>,
): Script<K, A, R> {
  const starred = keys.at(-1)?.endsWith('*') === true
  const source = `${prelude(keys, args)} ${lua}`
  const plain = sourceOf(source)
  const names = Object.keys(args)
  const hows = Object.values(args)
  const bare = keys.map((key) => (key.endsWith('*') ? key.slice(0, -1) : key))
  if (merge !== false && (starred || hows.some((how) => 'rest' in how)))
    throw new SchemaError(`script ${name}: calls that take any number of keys or arguments cannot be merged`)
  const unsaid = merge === true ? [] : unsaidOf(hows)
  const keyCountText = String(keys.length)
  const base = { firstKey: 3, keyCount: keys.length, ...(bytes ? { bytes } : {}) }
  const shape: Shape =
    merge === false
      ? base
      : merge === true
        ? { ...base, merge: mergeRuns(plain, sourceOf(repeated(source)), keys.length, hows.length, base) }
        : {
            ...base,
            merge: equalCalls(
              name,
              merge,
              plain,
              sourceOf(overKeys(keys, args, lua)),
              hows,
              keys.length,
              base,
            ),
          }

  return {
    name,
    keys,
    source,
    async run(connection, keyValues, values) {
      const command: Argument[] = ['EVALSHA', plain.sha, keyCountText]
      for (let at = 0; at < bare.length; at++) {
        const value = (keyValues as Record<string, string | readonly Argument[]>)[bare[at]!]!
        if (typeof value === 'string') command.push(value)
        else command.push(...value)
      }
      const keyCount = command.length - 3
      if (starred) command[2] = String(keyCount)
      for (let at = 0; at < names.length; at++) {
        const value = (values as Record<string, unknown>)[names[at]!]
        const how = hows[at]!
        if ('rest' in how) for (const item of value as readonly Argument[]) command.push(item)
        else command.push(how.encode(value))
      }
      for (let at = unsaid.length; at > 0 && command.at(-1) === unsaid[at - 1]; at--) command.pop()
      const own = starred ? { ...shape, keyCount } : shape
      let answer: Reply
      try {
        try {
          // A merge knows by itself whether the text is to be sent.
          answer = await (shape.merge === undefined
            ? sendKnown(connection, plain, command, own)
            : connection.send(command, own))
        } catch (error) {
          if (!isUnknown(error)) throw error
          answer = await sendText(connection, plain, command, starred ? own : base)
        }
      } catch (error) {
        throw told(error, name, command)
      }
      try {
        return reply(answer)
      } catch (error) {
        throw error instanceof KeyspecError ? error : new ScriptError(name, keyOf(command), error)
      }
    },
  }
}

type Hows = readonly (ScriptArgument<any> | RestArgument)[]

/** What need not travel, of the arguments at the end. */
function unsaidOf(hows: Hows): readonly string[] {
  const forms = hows.map((how) => ('rest' in how ? undefined : how.unsaid))
  return forms.slice(forms.lastIndexOf(undefined) + 1) as string[]
}

interface Source {
  readonly text: string
  readonly sha: string
  /** The connections that were sent the whole text, and on a cluster for which slots: from then on its SHA-1 does. */
  readonly known: WeakMap<Connection, Set<number>>
}

function sourceOf(text: string): Source {
  return { text, sha: createHash('sha1').update(text).digest('hex'), known: new WeakMap() }
}

function prelude(keys: readonly string[], args: Arguments): string {
  const statements = keys.map((name, index) =>
    name.endsWith('*')
      ? `local ${name.slice(0, -1)} = {} for i = ${index + 1}, #KEYS do ${name.slice(0, -1)}[i - ${index}] = KEYS[i] end`
      : `local ${name} = KEYS[${index + 1}]`,
  )
  for (const [index, [name, how]] of Object.entries(args).entries()) {
    statements.push(
      'rest' in how
        ? `local ${name} = {} for i = ${index + 1}, #ARGV do ${name}[i - ${index}] = ARGV[i] end`
        : how.local(name, `ARGV[${index + 1}]`),
    )
  }
  return statements.join(' ')
}

/** EVALSHA of this source, or EVAL where this connection has not sent the text yet (on a cluster: not for this slot). */
function sendKnown(
  connection: Connection,
  source: Source,
  command: Command, // EVALSHA of this source
  shape: Shape,
): Promise<Reply> {
  const slots = source.known.get(connection)
  if (slots?.has(slotFor(connection, command)) !== true) return sendText(connection, source, command, shape)
  return connection.send(command, shape)
}

/**
 * EVAL, which teaches the server the text: also when it lost it (SCRIPT FLUSH, a failover, a slot that moved), so that the
 * caller never notices.
 *
 * In that last case the repeat is overtaken by what was asked on the same key in the meantime, since those commands are
 * on their way before the server's NOSCRIPT arrives. Whoever needs an order even then awaits the one before the other.
 */
function sendText(connection: Connection, source: Source, command: Command, shape: Shape): Promise<Reply> {
  let slots = source.known.get(connection)
  if (slots === undefined) source.known.set(connection, (slots = new Set()))
  slots.add(slotFor(connection, command))
  return connection.send(['EVAL', source.text, ...command.slice(2)], shape)
}

function slotFor(connection: Connection, command: Command): number {
  return connection.cluster && command.length > 3 ? slotOf(String(command[3])) : 0
}

/** Sends it, and again with the text where the server has lost it: for what several askers share. */
async function evaluate(
  connection: Connection,
  source: Source,
  command: Command,
  shape: Shape,
): Promise<Reply> {
  try {
    return await sendKnown(connection, source, command, shape)
  } catch (error) {
    if (!isUnknown(error)) throw error
    return sendText(connection, source, command, shape)
  }
}

function keyOf(command: Command): string | undefined {
  return command[2] === '0' ? undefined : String(command[3])
}

function told(error: unknown, name: string, command: Command): unknown {
  return error instanceof ServerError && error.code === 'E_SERVER'
    ? new ScriptError(name, keyOf(command), error)
    : error
}

/** The source that runs the body once for each run of arguments, and answers `[1, reply]` or `[0, error]` for each. */
function repeated(source: string): string {
  return (
    `local function once(KEYS, ARGV) ${source}\nend\n` +
    'local width, answers = tonumber(ARGV[1]), {}\n' +
    'for from = 2, #ARGV, width do\n' +
    '  local ok, reply = pcall(once, KEYS, {unpack(ARGV, from, from + width - 1)})\n' +
    `  local failed = ${FAILED}\n` +
    '  if failed then answers[#answers + 1] = {0, failed}\n' +
    '  else if reply == nil then reply = false end answers[#answers + 1] = {1, reply} end\n' +
    'end\n' +
    'return answers'
  )
}

function isUnknown(error: unknown): boolean {
  return error instanceof ServerError && error.code === 'E_NO_SCRIPT'
}

/** Calls that are equal but for their keys become one call that says how many they are on each. */
function equalCalls(
  name: string,
  split: Split,
  one: Source,
  several: Source,
  hows: Hows,
  keyCount: number,
  shape: Shape,
): Merge {
  const place = hows.indexOf(times)
  if (place === -1 || keyCount !== 1)
    throw new SchemaError(
      `script ${name}: equal calls are merged on one key, by an argument of the form times`,
    )
  const width = hows.length
  const unsaid = unsaidOf(hows)
  /** The arguments of a call, those that it need not say among them. */
  const said = (call: Command): Argument[] => {
    const values = call.slice(FIRST_ARGUMENT)
    while (values.length < width) values.push(unsaid[values.length - width + unsaid.length]!)
    return values
  }
  return mergeEqual(split, {
    sendOne: (connection, call) => sendKnown(connection, one, call, shape),
    sendCounted(connection, call, count) {
      if (count === 1) return evaluate(connection, one, call, shape)
      const values = said(call)
      values[place] = String(count)
      return evaluate(connection, one, [...call.slice(0, FIRST_ARGUMENT), ...values], shape)
    },
    async sendSeveral(connection, call, keys, counts) {
      const values = counts.every((count) => count === 1)
        ? call.slice(FIRST_ARGUMENT)
        : [...said(call), ...counts.map(String)]
      const command = ['EVALSHA', several.sha, String(keys.length), ...keys, ...values]
      return (await evaluate(connection, several, command, { ...shape, keyCount: keys.length })) as Reply[]
    },
  })
}

const FIRST_ARGUMENT = 4

/**
 * The source that runs the body once for each key, with the same arguments but for how many it is asked for, which stands
 * behind them. Answers for each what the body answers, or the text of its error.
 */
function overKeys(keys: readonly string[], args: Arguments, lua: string): string {
  const names = Object.entries(args).map(([name, how]) => ({ name, isCount: how === times }))
  const given = names.map(({ name, isCount }) =>
    isCount ? `tonumber(ARGV[${names.length} + i] or 1)` : name,
  )
  return (
    `${prelude([], args)} local function once(${[...keys, ...names.map(({ name }) => name)].join(', ')}) ${lua}\nend\n` +
    'local answers = {}\n' +
    'for i = 1, #KEYS do\n' +
    `  local ok, reply = pcall(once, ${['KEYS[i]', ...given].join(', ')})\n` +
    `  answers[i] = ${FAILED} or reply\n` +
    'end\n' +
    'return answers'
  )
}

// An error that is returned rather than raised would else fail the whole reply in some clients.
const FAILED = "type(reply) == 'table' and reply.err or not ok and tostring(reply)"

/** Scripts on one hot key become one; those on different keys stay as they are. */
function mergeRuns(one: Source, many: Source, keyCount: number, width: number, shape: Shape): Merge {
  const firstArgument = 3 + keyCount
  return {
    most: 64,
    neighbours: keyCount > 1,
    group: (call) => (keyCount === 1 ? (call[3] as string) : call.slice(3, firstArgument).join('\0')),
    sendOne: (connection, call) => sendKnown(connection, one, call, shape),
    async send(connection, calls) {
      const values = calls.flatMap((call) => call.slice(firstArgument))
      // A call without arguments still needs a place to stand in.
      const places = width === 0 ? calls.map(() => '') : values
      const head = ['EVALSHA', many.sha, ...calls[0]!.slice(2, firstArgument)]
      const replies = await evaluate(
        connection,
        many,
        [...head, String(Math.max(1, width)), ...places],
        shape,
      )
      return (replies as readonly (readonly [number, Reply])[]).map(([ok, reply]): Outcome =>
        ok === 1
          ? { reply }
          : { error: new ServerError(unwrapped(String(reply)), 'EVALSHA', String(head[3])) },
      )
    },
  }
}
