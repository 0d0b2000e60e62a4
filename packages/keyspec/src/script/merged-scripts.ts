import type { Argument, Command, Reply, Shape, Merge, Outcome } from '../connection/connection.ts'
import { arrayReply, decodeReply, listReply } from '../connection/reply.ts'
import { ServerError } from '../connection/server-error.ts'
import { SchemaError } from '../errors.ts'
import { type Arguments, type Hows, times, unsaidOf } from './argument.ts'
import { mergeEqual, type Split } from './merge-equal.ts'
import { evaluate, prelude, sendKnown, type Source } from './source.ts'

/** Calls that are equal but for their keys become one call that says how many they are on each. */
export function equalCalls(
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
      return decodeReply(
        arrayReply,
        await evaluate(connection, several, command, { ...shape, keyCount: keys.length }),
        String(keys[0]),
      )
    },
  })
}

const FIRST_ARGUMENT = 4

/**
 * The source that runs the body once for each key, with the same arguments but for how many it is asked for, which stands
 * behind them. Answers for each what the body answers, or the text of its error.
 */
export function overKeys(keys: readonly string[], args: Arguments, lua: string): string {
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
export function mergeRuns(one: Source, many: Source, keyCount: number, width: number, shape: Shape): Merge {
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
      const key = String(head[3])
      const outcomeIn = (item: Reply): Outcome => {
        const parts = arrayReply(item)
        const reply = parts[1] ?? null
        return parts[0] === 1 ? { reply } : { error: new ServerError(String(reply), 'EVALSHA', key) }
      }
      return decodeReply(listReply(outcomeIn), replies, key)
    },
  }
}

/** The source that runs the body once for each run of arguments, and answers `[1, reply]` or `[0, error]` for each. */
export function repeated(source: string): string {
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
