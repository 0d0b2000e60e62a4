import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Compiled, compiledLibrary, type Program } from '../../../../test-support/program.ts'
import { unique } from '../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../testing/redis.ts'

let server: TemporaryRedis
let library: Compiled
beforeAll(async () => {
  library = compiledLibrary()
  server = await startRedis()
})
afterAll(async () => {
  library[Symbol.dispose]()
  await server.stop()
})

const programs: Program[] = []
afterEach(async () => {
  await Promise.all(programs.splice(0).map((program) => program.kill()))
})

/** Runs the same lines in four processes at once, each with its number as `who`; answers what each gives as `result`. */
async function inFour(prefix: string, lines: string): Promise<unknown[]> {
  const all = Array.from({ length: 4 }, (_, who) =>
    library.run(
      `
      const { prefix, who, socket } = given
      const { keyspec, connection } = await lean(socket)
      const { integer, open, seen, sequence, snapshot, text, watermark } = keyspec
      const forever = { ttl: 'forever', because: 'a test' }
      const keys = open({
        shown: seen('shown', text, { ttl: '1h' }),
        id: sequence('id', forever),
        mark: watermark('mark', integer, forever),
        trending: snapshot('trending:current', integer, { staging: 'trending:next', ...forever }),
      }, connection, { prefix })
      const times = (length, run) => Promise.all(Array.from({ length }, (_, n) => run(n)))
      say('ready')
      await told()
      ${lines}
      say(result)
      `,
      { prefix, who, socket: server.socket },
    ),
  )
  programs.push(...all)
  for (const program of all) expect(await program.next()).toBe('ready')
  for (const program of all) program.tell('go')
  return Promise.all(all.map((program) => program.next()))
}

test('seen gives each candidate to one process', async () => {
  const prefix = `${unique()}:`
  const claimed = await inFour(
    prefix,
    `
    const candidates = Array.from({ length: 300 }, (_, n) => 'c' + (n + who * 75) % 300)
    const result = (await times(50, () => keys.shown().claim(candidates, { most: 2 }))).flat()
    `,
  )
  const all = (claimed as string[][]).flat()
  expect(all).toHaveLength(300)
  expect(new Set(all).size).toBe(300)
  expect(await server.command('SCARD', `${prefix}shown`)).toBe(300)
})

test('sequence gives no number to two processes', async () => {
  const prefix = `${unique()}:`
  const taken = await inFour(prefix, 'const result = await times(500, () => keys.id().next())')
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
    `,
  )
  for (const values of seen as number[][]) expect(values).toEqual(values.toSorted((a, b) => a - b))
  expect(await server.command('GET', `${prefix}mark`)).toBe(String(199 * 4 + 3))
})

test('snapshot is never absent nor mixed for the readers while four processes replace it', async () => {
  const prefix = `${unique()}:`
  await server.command('SADD', `${prefix}trending:current`, ...Array.from({ length: 1000 }, (_, n) => n * 4))
  const looks = await inFour(
    prefix,
    `
    const mine = Array.from({ length: 1000 }, (_, n) => n * 4 + who)
    const result = []
    for (let n = 0; n < 30; n += 1) {
      const [members] = await Promise.all([keys.trending().members(), keys.trending().replace(mine)])
      result.push([members.size, new Set([...members].map((id) => id % 4)).size])
    }
    `,
  )
  for (const look of (looks as [number, number][][]).flat()) expect(look).toEqual([1000, 1])
  expect(await server.command('EXISTS', `${prefix}trending:next`)).toBe(0)
})
