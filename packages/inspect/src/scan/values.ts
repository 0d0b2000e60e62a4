import { type Connection, ServerError } from 'keyspec'
import {
  arrayReply,
  bytesReply,
  int,
  integerReply,
  type Reply,
  script,
  textArgument as text,
  tupleReply,
} from 'keyspec/extend'
import * as lua from './lua.gen.ts'
import { throttle, type Throttle } from './throttle.ts'
import { packed, Unpacker } from './packed.ts'
import { peeker, type StoredValue } from './peek.ts'
import type { KeyFacts, ScanOptions } from './scan.ts'
import { StepSize } from './step-size.ts'

/** How values are read. */
export interface ValueOptions extends Pick<ScanOptions, 'maxLoad' | 'signal'> {
  /** How many bytes of a value are read at the most; 1 MB unless told. What is larger is left out, and counted. */
  readonly limitBytes?: number | undefined
}

/** Reads values from a server, as few commands at a time as they fit in, and rests between them. */
export function valuesOf(connection: Connection) {
  // One for all, so that short rests add up, and what was learnt is known.
  let rest: Throttle | undefined
  let size: StepSize | undefined
  let mayRunScripts = true

  return async function* (
    keys: readonly KeyFacts[],
    { maxLoad, signal, limitBytes = 2 ** 20 }: ValueOptions,
  ): AsyncGenerator<readonly StoredValue[]> {
    rest ??= throttle(maxLoad, signal)
    const steps = (size ??= new StepSize(maxLoad, undefined))
    const peek = peeker({ limitBytes })
    const budget = maxLoad === 1 ? LARGE_BUDGET_BYTES : BUDGET_BYTES

    /** Reads as many values as fit into one command, and answers for at least the first. */
    async function some(at: number): Promise<readonly StoredValue[]> {
      if (mayRunScripts) {
        try {
          if (!connection.cluster) return await together(keys.slice(at, at + steps.count))
          const few = keys.slice(at, at + AT_ONCE_ON_A_CLUSTER)
          return (await Promise.all(few.map((key) => together([key])))).flat()
        } catch (error) {
          // A user who may read but not run scripts gets the same, in more commands.
          if (!(error instanceof ServerError && error.code === 'E_DENIED')) throw error
          mayRunScripts = false
        }
      }
      return [await peek.alone(connection, keys[at]!.key)]
    }

    async function together(few: readonly KeyFacts[]): Promise<readonly StoredValue[]> {
      const types = few.map(({ type }) => LETTERS[type] ?? '?').join('')
      // Where keys live in slots, the server must know of them.
      const declared = connection.cluster ? few.map(({ key }) => key) : []
      const names = connection.cluster ? '' : packed(few.map(({ key }) => key))
      const [micros, answers] = await valuesScript.run(
        connection,
        { keys: declared },
        { names, types, most: MOST_ELEMENTS, limit: limitBytes, budget },
      )
      const read = new Unpacker(answers)
      const count = read.array()
      steps.learn(count, micros)
      return Array.from({ length: count }, (_, index) => storedValue(few[index]!.type, read.value()))
    }

    for (let at = 0; at < keys.length;) {
      const found = await rest(() => some(at))
      yield found
      at += found.length
    }
  }
}

const MOST_ELEMENTS = 10
// One step should hold the server for less than half a millisecond, or for a millisecond or two.
const BUDGET_BYTES = 2 ** 16
const LARGE_BUDGET_BYTES = 2 ** 18
const AT_ONCE_ON_A_CLUSTER = 10

const LETTERS: Readonly<Record<string, string>> = {
  string: 't',
  hash: 'h',
  list: 'l',
  set: 's',
  zset: 'z',
  stream: 'x',
}

const valuesScript = script('inspect/values', {
  keys: ['keys*'],
  args: { names: text, types: text, most: int, limit: int, budget: int },
  lua: lua.values,
  commands: ['EXISTS', 'GET', 'GETRANGE', 'HSCAN', 'LRANGE', 'SSCAN', 'STRLEN', 'TIME', 'XRANGE', 'ZRANGE'],
  bytes: true,
  reply: tupleReply(integerReply, bytesReply),
})

function storedValue(type: string, answer: Reply): StoredValue {
  if (typeof answer === 'number') return { type: 'none', omitted: 0, elements: [] }
  const [omitted, ...elements] = arrayReply(answer)
  return { type, omitted: integerReply(omitted!), elements }
}
