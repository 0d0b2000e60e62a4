import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Compiled, compiledLibrary, type Program } from '../../../../test-support/program.ts'
import { unique } from '../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../testing/redis.ts'

let server: TemporaryRedis
let library: Compiled
let programs: readonly Program[]
beforeAll(async () => {
  library = compiledLibrary()
  server = await startRedis()
  programs = Array.from({ length: 4 }, (_, who) => racer(who))
  for (const program of programs) expect(await program.next()).toBe('ready')
})
afterAll(async () => {
  library[Symbol.dispose]()
  await server.stop()
})

/** A process that is told lines and runs them when all are set, with its number as `who`; it says what they return. */
function racer(who: number): Program {
  return library.run(
    `
    const { who, socket } = given
    const { keyspec, connection } = await lean(socket)
    const { dedupe, integer, open, sequence, swapSet, text, watermark } = keyspec
    const forever = { ttl: 'forever', reason: 'a test' }
    const schema = {
      shown: dedupe('shown', text, { ttl: '1h' }),
      id: sequence('id', forever),
      mark: watermark('mark', integer, forever),
      trending: swapSet('trending:current', integer, { staging: 'trending:next', ...forever }),
    }
    const times = (length, run) => Promise.all(Array.from({ length }, (_, n) => run(n)))
    const AsyncFunction = (async () => {}).constructor
    say('ready')
    for (;;) {
      const { prefix, lines } = await told()
      const race = new AsyncFunction('keys', 'who', 'times', lines)
      const keys = open(schema, connection, { prefix })
      say('set')
      await told()
      say(await race(keys, who, times))
    }
    `,
    { who, socket: server.socket },
  )
}

/** Runs the same lines in the four processes at once; answers what each returns. */
async function inFour(prefix: string, lines: string): Promise<unknown[]> {
  for (const program of programs) program.tell({ prefix, lines })
  for (const program of programs) expect(await program.next()).toBe('set')
  for (const program of programs) program.tell('go')
  return Promise.all(programs.map((program) => program.next()))
}

test('dedupe gives each candidate to one process', async () => {
  const prefix = `${unique()}:`
  const claimed = await inFour(
    prefix,
    `
    const candidates = Array.from({ length: 300 }, (_, n) => 'c' + (n + who * 75) % 300)
    return (await times(50, () => keys.shown().claim(candidates, { most: 2 }))).flat()
    `,
  )
  const all = (claimed as string[][]).flat()
  expect(all).toHaveLength(300)
  expect(new Set(all).size).toBe(300)
  expect(await server.command('SCARD', `${prefix}shown`)).toBe(300)
})

test('sequence gives no number to two processes', async () => {
  const prefix = `${unique()}:`
  const taken = await inFour(prefix, 'return times(500, () => keys.id().next())')
  const all = (taken as number[][]).flat()
  expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 2000 }, (_, n) => n + 1))
  expect(await server.command('GET', `${prefix}id`)).toBe('2000')
})

test('watermark goes back in no process, and ends at the highest of all', async () => {
  const prefix = `${unique()}:`
  const seen = await inFour(
    prefix,
    `
    const result = []
    for (let n = 0; n < 200; n += 1) {
      result.push((await keys.mark().advance((n * 37) % 200 * 4 + who)).value, await keys.mark().get())
    }
    return result
    `,
  )
  for (const values of seen as number[][]) expect(values).toEqual(values.toSorted((a, b) => a - b))
  expect(await server.command('GET', `${prefix}mark`)).toBe(String(199 * 4 + 3))
})

test('swapSet is never absent nor mixed for the readers while four processes replace it', async () => {
  const prefix = `${unique()}:`
  await server.command('SADD', `${prefix}trending:current`, ...Array.from({ length: 300 }, (_, n) => n * 4))
  const looks = await inFour(
    prefix,
    `
    const mine = Array.from({ length: 300 }, (_, n) => n * 4 + who)
    const result = []
    for (let n = 0; n < 30; n += 1) {
      const [members] = await Promise.all([keys.trending().members(), keys.trending().replace(mine)])
      result.push([members.size, new Set([...members].map((id) => id % 4)).size])
    }
    return result
    `,
  )
  for (const look of (looks as [number, number][][]).flat()) expect(look).toEqual([300, 1])
  expect(await server.command('EXISTS', `${prefix}trending:next`)).toBe(0)
})
