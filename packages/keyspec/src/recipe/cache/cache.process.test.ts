import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Compiled, compiledLibrary, type Program } from '../../../../../test-support/program.ts'
import { eventually, unique } from '../../testing/eventually.ts'
import { startRedis, type TemporaryRedis } from '../../testing/redis.ts'

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

/**
 * A process that asks for one entry so many times at once, and says what it was answered. In Redis it counts `loads` and,
 * once each of its askers loads or waits, `asking`; its load ends with a value pushed to `value:<who>`, and throws where that is
 * `throw`. Askers that are rejected answer the code.
 */
async function asker(
  prefix: string,
  who: string,
  { askers = 1, lockTtl = '10s', loadTimeout = '1m' } = {},
): Promise<Program> {
  const program = library.run(
    `
    const { prefix, who, askers, lockTtl, loadTimeout, socket } = given
    const { keyspec: { cache, open, text }, connection, command } = await lean(socket)
    const schema = { answer: cache('answer:<id>', text, { ttl: '1h', lockTtl, loadTimeout }) }
    const keys = open(schema, connection, { prefix })
    const load = async () => {
      await command('INCR', prefix + 'loads')
      const value = (await command('BLPOP', prefix + 'value:' + who, 0))[1]
      if (value === 'throw') throw new Error('away')
      return value
    }
    say('ready')
    await told()
    const asked = Array.from({ length: askers }, () => keys.answer({ id: 1 }).getOrLoad(load))
    const look = setInterval(() => {
      const { loads, waits } = keys.answer.stats()
      if (loads + waits < askers) return
      clearInterval(look)
      void command('INCR', prefix + 'asking')
    }, 5)
    const answers = await Promise.all(asked.map((each) => each.catch(({ code, message }) => code ?? message)))
    say({ answers: [...new Set(answers)], stats: keys.answer.stats() })
    `,
    { prefix, who, askers, lockTtl, loadTimeout, socket: server.socket },
  )
  programs.push(program)
  expect(await program.next()).toBe('ready')
  return program
}

const counted = (key: string, count: number) =>
  eventually(async () => expect(await server.command('GET', key)).toBe(String(count)), { within: '30s' })

test('eight processes with fifty askers each load once', async () => {
  const prefix = `${unique()}:`
  const names = Array.from({ length: 8 }, (_, n) => `p${n}`)
  const all = await Promise.all(names.map((who) => asker(prefix, who, { askers: 50 })))
  for (const program of all) program.tell('ask')
  await counted(`${prefix}asking`, 8)
  for (const who of names) await server.command('RPUSH', `${prefix}value:${who}`, '42')
  const ends = (await Promise.all(all.map((program) => program.next()))) as End[]
  expect(ends.map(({ answers }) => answers)).toEqual(names.map(() => ['42']))
  expect(ends.reduce((sum, { stats }) => sum + stats.loads, 0)).toBe(1)
  expect(ends.reduce((sum, { stats }) => sum + stats.waits, 0)).toBe(399)
  expect(await server.command('GET', `${prefix}loads`)).toBe('1')
  expect(await server.command('GET', `${prefix}answer:1`)).toBe('42')
  expect(await server.command('EXISTS', `${prefix}lock:answer:1`)).toBe(0)
})

test('one of those who wait takes over when the loader is killed', async () => {
  const prefix = `${unique()}:`
  const short = { lockTtl: '2s' }
  const first = await asker(prefix, 'first', short)
  first.tell('ask')
  await counted(`${prefix}loads`, 1)
  const others = await Promise.all(['second', 'third'].map((who) => asker(prefix, who, short)))
  for (const program of others) program.tell('ask')
  await counted(`${prefix}asking`, 3)
  await first.kill()
  await counted(`${prefix}loads`, 2)
  for (const who of ['second', 'third']) await server.command('RPUSH', `${prefix}value:${who}`, '42')
  const ends = (await Promise.all(others.map((program) => program.next()))) as End[]
  expect(ends.map(({ answers }) => answers)).toEqual([['42'], ['42']])
  expect(await server.command('GET', `${prefix}loads`)).toBe('2')
  expect(await server.command('GET', `${prefix}answer:1`)).toBe('42')
})

test('a loader that was stopped wakes up fenced: what its successor wrote stays', async () => {
  const prefix = `${unique()}:`
  const short = { lockTtl: '2s' }
  const sleeper = await asker(prefix, 'sleeper', short)
  sleeper.tell('ask')
  await counted(`${prefix}loads`, 1)
  const owner = await server.command('GET', `${prefix}lock:answer:1`)
  sleeper.signal('SIGSTOP')
  const successor = await asker(prefix, 'successor', short)
  successor.tell('ask')
  await counted(`${prefix}loads`, 2)
  expect(await server.command('GET', `${prefix}lock:answer:1`)).not.toBe(owner)

  // It wakes up with its value while the successor still loads, and must neither write nor take the lock from him.
  await server.command('RPUSH', `${prefix}value:sleeper`, 'older')
  sleeper.signal('SIGCONT')
  expect(await sleeper.next()).toMatchObject({ answers: ['older'], stats: { loads: 1, unwritten: 1 } })
  expect(await server.command('EXISTS', `${prefix}answer:1`)).toBe(0)
  expect(await server.command('EXISTS', `${prefix}lock:answer:1`)).toBe(1)

  await server.command('RPUSH', `${prefix}value:successor`, 'newer')
  expect(await successor.next()).toMatchObject({ answers: ['newer'], stats: { loads: 1, unwritten: 0 } })
  expect(await server.command('GET', `${prefix}answer:1`)).toBe('newer')
})

test('eight processes whose loads would all throw ask once, and all learn of the failure', async () => {
  const prefix = `${unique()}:`
  const names = Array.from({ length: 8 }, (_, n) => `p${n}`)
  const all = await Promise.all(names.map((who) => asker(prefix, who, { askers: 5 })))
  for (const program of all) program.tell('ask')
  await counted(`${prefix}asking`, 8)
  for (const who of names) await server.command('RPUSH', `${prefix}value:${who}`, 'throw')
  const ends = (await Promise.all(all.map((program) => program.next()))) as End[]
  expect(ends.flatMap(({ answers }) => answers).toSorted()).toEqual([
    ...Array.from({ length: 7 }, () => 'E_LOAD_FAILED'),
    'away',
  ])
  expect(await server.command('GET', `${prefix}loads`)).toBe('1')
})

test('a load that hangs in one process ends there with an error, and another process loads', async () => {
  const prefix = `${unique()}:`
  const hung = await asker(prefix, 'hung', { loadTimeout: '2s' })
  hung.tell('ask')
  await counted(`${prefix}loads`, 1)
  const next = await asker(prefix, 'next')
  next.tell('ask')
  await counted(`${prefix}asking`, 2)
  expect(await hung.next()).toMatchObject({ answers: ['E_LOAD_TIMEOUT'] })
  await counted(`${prefix}loads`, 2)
  await server.command('RPUSH', `${prefix}value:next`, 'newer')
  expect(await next.next()).toMatchObject({ answers: ['newer'], stats: { loads: 1, unwritten: 0 } })
  await server.command('RPUSH', `${prefix}value:hung`, 'late')
  expect(await server.command('GET', `${prefix}answer:1`)).toBe('newer')
})

interface End {
  readonly answers: readonly string[]
  readonly stats: { readonly loads: number; readonly waits: number }
}
