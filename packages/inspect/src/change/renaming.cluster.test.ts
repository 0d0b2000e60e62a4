import { type Connection, list, mount, open, type Phase, string, text } from 'keyspec'
import { moveAcross, slotOf } from 'keyspec/extend'
import { cache, fixedWindow } from 'keyspec/recipes'
import { unique } from 'keyspec/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clusterConnections, type Opened } from '../../../../test-support/connections.ts'
import { type Cluster, startCluster } from '../../../../test-support/index.ts'
import { erase } from './erase.ts'
import { planMigration, rollBackMigration, runMigration } from './migrate.ts'
import { scanKeys } from '../scan/scan.ts'

const schemaAt = (phase: Phase) => ({
  items: list('new:items:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'old:items:<id>', phase } }),
  value: string('new:value:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'old:value:<id>', phase } }),
  calls: fixedWindow('new:calls:<id>', {
    per: '1h',
    limit: 10,
    renamedFrom: { pattern: 'old:calls:<id>', phase },
  }),
  page: cache('new:page:{<id>}', text, { ttl: '1h', renamedFrom: { pattern: 'old:page:{<id>}', phase } }),
})

let cluster: Cluster
let first: Opened
let second: Opened
beforeAll(async () => {
  cluster = await startCluster()
  const [[, connect]] = clusterConnections as readonly [(typeof clusterConnections)[0]]
  ;[first, second] = await Promise.all([connect(cluster), connect(cluster)])
})
afterAll(async () => {
  await Promise.all([first?.close(), second?.close()])
  await cluster.stop()
})

const send = (command: string, key: string, ...words: (string | number)[]) =>
  first.connection.send([command, key, ...words.map(String)], { firstKey: 1, keyCount: 1 })

/** When a key ends, by this clock: PEXPIRETIME is of Redis 7. */
const endOf = async (key: string) => Date.now() + ((await send('PTTL', key)) as number)

/** Ids whose two names are in different slots. */
function* idsApart(prefix: string, entry: string): Generator<string> {
  for (let id = 0; ; id++)
    if (slotOf(`${prefix}old:${entry}:${id}`) !== slotOf(`${prefix}new:${entry}:${id}`)) yield `${id}`
}

function idApart(prefix: string, entry: string): string {
  return idsApart(prefix, entry).next().value as string
}

async function drain(work: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of work);
}

async function counts(work: typeof planMigration, prefix: string): Promise<Record<string, number>> {
  return { ...(await work(schemaAt(2), first.connection, { prefix, maxLoad: 1 })).counts }
}

const sorted = (values: readonly (string | undefined)[]) => values.toSorted((a, b) => Number(a) - Number(b))

describe.each([
  [1, 1],
  [1, 2],
  [2, 2],
  [2, 3],
] as const)('programs at %i and %i, names in different slots', (earlier, later) => {
  const fresh = () => {
    const prefix = `${unique()}:`
    const programs = [
      open(schemaAt(earlier), first.connection, { prefix }),
      open(schemaAt(later), second.connection, { prefix }),
    ] as const
    return { prefix, programs }
  }

  test('two of them pop one list, while two migrations move it: no element is lost or doubled', async () => {
    const { prefix, programs } = fresh()
    // At phase 3 nothing may be left under an old name.
    const isOld = later !== 3
    const rounds = 100
    const ids = idsApart(prefix, 'items')
    const wrong: unknown[] = []
    for (let round = 0; round < rounds; round++) {
      const id = ids.next().value as string
      const elements = Array.from({ length: 12 }, (_, at) => `${at}`)
      if (isOld) await send('RPUSH', `${prefix}old:items:${id}`, ...elements)
      else await programs[1].items({ id }).pushBack(...elements)
      const popping = programs.flatMap((keys) =>
        Array.from({ length: 5 }, async () => {
          const popped: (string | undefined)[] = []
          for (let times = 0; times < 2; times++) popped.push(await keys.items({ id }).popFront())
          return popped
        }),
      )
      const pushing = programs.map((keys, at) => keys.items({ id }).pushBack(`${12 + at}`))
      const moving =
        earlier === 1 && later === 1
          ? []
          : [first, second].map(({ connection }) =>
              moveAcross(connection, prefix, `${prefix}old:items:${id}`, `${prefix}new:items:${id}`),
            )
      const popped = (await Promise.all(popping)).flat()
      const moved = await Promise.all([...moving, ...pushing.map((each) => each.then(() => 'pushed'))])
      const left = await programs[1].items({ id }).range()
      const all = [...popped.filter((each) => each !== undefined), ...left]
      const meant = [...elements, '12', '13']
      if (sorted(all).join() !== meant.join()) wrong.push({ id, all: sorted(all), moved })
      const ttl = await programs[0].items({ id }).ttlMs()
      if (left.length > 0 && ttl === 'forever') wrong.push({ id, ttl })
    }
    expect(wrong).toEqual([])
  })

  test('admit no more together than one limit', async () => {
    const { prefix, programs } = fresh()
    const id = idApart(prefix, 'calls')
    const taking = Array.from({ length: 60 }, (_, at) => programs[at % 2]!.calls({ id }).take())
    const taken = await Promise.all(taking)
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10)
    expect((await programs[0].calls({ id }).take()).allowed).toBe(false)
  })

  test('load a cached value once, whose names share a slot with its lock', async () => {
    const { programs } = fresh()
    const id = 1
    let loads = 0
    const load = () => `load ${(loads += 1)}`
    const asking = Array.from({ length: 20 }, (_, at) => programs[at % 2]!.page({ id }).getOrLoad(load))
    expect(new Set(await Promise.all(asking))).toEqual(new Set(['load 1']))
    expect(loads).toBe(1)
  })

  test('a key is not moved on access, and calls on one key keep their order', async () => {
    const { prefix, programs } = fresh()
    const id = idApart(prefix, 'value')
    const keys = programs[0]
    const calls = ['a', 'b', 'c'].map((value) => keys.value({ id }).getAndSet(value))
    expect(await Promise.all(calls)).toEqual([undefined, 'a', 'b'])
    expect(await programs[1].value({ id }).get()).toBe('c')
    expect(await send('EXISTS', `${prefix}old:value:${id}`)).toBe(earlier === 1 ? 1 : 0)
    expect(await keys.value({ id }).delete()).toBe(true)
    expect(await programs[1].value({ id }).exists()).toBe(false)
  })
})

/** A connection that goes on for so many commands, and then does nothing more, as a process that was killed. */
function killedAfter(
  connection: Connection,
  commands: number,
): { connection: Connection; dead: Promise<void> } {
  let left = commands
  let die = () => {}
  const dead = new Promise<void>((resolve) => {
    die = resolve
  })
  const send: Connection['send'] = (command, shape) => {
    if (left === 0) {
      die()
      return new Promise(() => {})
    }
    left -= 1
    return connection.send(command, shape)
  }
  return { connection: { ...connection, masters: () => connection.masters(), send }, dead }
}

describe.each([0, 1, 2])('a move that was killed after %i steps', (steps) => {
  const killed = async () => {
    const prefix = `${unique()}:`
    const id = idApart(prefix, 'items')
    const [from, to] = [`${prefix}old:items:${id}`, `${prefix}new:items:${id}`]
    await send('RPUSH', from, '0', '1', '2')
    const endsAt = Date.now() + 500_000
    await send('PEXPIREAT', from, endsAt)
    const mover = killedAfter(first.connection, steps)
    void moveAcross(mover.connection, prefix, from, to)
    await mover.dead
    return { prefix, id, from, to, endsAt }
  }

  test.each([1, 2] as const)('is ended by a verb at phase %i, with its time to live', async (phase) => {
    const { prefix, id, from, to, endsAt } = await killed()
    const keys = open(schemaAt(phase), second.connection, { prefix })
    expect(await keys.items({ id }).popFront()).toBe('0')
    expect(await keys.items({ id }).range()).toEqual(['1', '2'])
    expect(await endOf(steps === 0 ? from : to)).toBeCloseTo(endsAt, -4)
    expect(await send('EXISTS', steps === 0 ? to : from)).toBe(0)
  })

  test('is ended by the next migration', async () => {
    const { prefix, from, to, endsAt } = await killed()
    await drain(runMigration(schemaAt(2), second.connection, { prefix, maxLoad: 1 }))
    expect(await send('LRANGE', to, 0, -1)).toEqual(['0', '1', '2'])
    expect(await endOf(to)).toBeCloseTo(endsAt, -4)
    expect(await send('EXISTS', from)).toBe(0)
    expect(await counts(planMigration, prefix)).toEqual({ migrated: 1 })
  })
})

test('migrate refuses an entry at phase 1, and deletes its notes at phase 3', async () => {
  const prefix = `${unique()}:`
  const id = idApart(prefix, 'value')
  await send('SET', `${prefix}old:value:${id}`, 'x')
  await expect(
    drain(runMigration(schemaAt(1), first.connection, { prefix, maxLoad: 1 })),
  ).rejects.toMatchObject({ code: 'E_MIGRATION' })
  expect(await send('GET', `${prefix}old:value:${id}`)).toBe('x')
  await drain(runMigration(schemaAt(2), first.connection, { prefix, maxLoad: 1 }))
  const names = async () => {
    const found: string[] = []
    for await (const keys of scanKeys(first.connection, { prefix, maxLoad: 1 }))
      found.push(...keys.map(({ name }) => name!))
    return found
  }
  expect((await names()).filter((name) => name.includes('keyspec:moved:'))).toHaveLength(2)
  await drain(runMigration(schemaAt(3), first.connection, { prefix, maxLoad: 1 }))
  expect(await names()).toEqual([`${prefix}new:value:${id}`])
})

test('the keys of a mounted schema move, and a move of theirs that was killed is ended', async () => {
  const prefix = `${unique()}:`
  const mounted = { tutor: mount('tutor:', schemaAt(2)) }
  const id = idApart(`${prefix}tutor:`, 'value')
  const from = `${prefix}tutor:old:value:${id}`
  await send('SET', from, 'x')
  const mover = killedAfter(first.connection, 1)
  void moveAcross(mover.connection, `${prefix}tutor:`, from, `${prefix}tutor:new:value:${id}`)
  await mover.dead
  await drain(runMigration(mounted, first.connection, { prefix, maxLoad: 1 }))
  expect(await send('GET', `${prefix}tutor:new:value:${id}`)).toBe('x')
  const keys = open(mounted, first.connection, { prefix })
  expect(await keys.tutor.value({ id }).get()).toBe('x')
})

test('a key that is on its way to another slot is erased, and the notes that name it', async () => {
  const prefix = `${unique()}:`
  const id = idApart(prefix, 'value')
  await send('SET', `${prefix}old:value:${id}`, 'x')
  const mover = killedAfter(first.connection, 2)
  void moveAcross(mover.connection, prefix, `${prefix}old:value:${id}`, `${prefix}new:value:${id}`)
  await mover.dead
  await drain(erase(schemaAt(2), first.connection, { prefix, subject: { id }, maxLoad: 1 }))
  for await (const keys of scanKeys(first.connection, { prefix, maxLoad: 1 }))
    expect(keys.map(({ name }) => name)).toEqual([])
})

test('a mover that slept brings nothing back', async () => {
  const prefix = `${unique()}:`
  const id = idApart(prefix, 'items')
  const [from, to] = [`${prefix}old:items:${id}`, `${prefix}new:items:${id}`] as const
  await send('RPUSH', from, '0', '1')
  let wake = () => {}
  const sleeping = new Promise<void>((resolve) => {
    wake = resolve
  })
  let sent = 0
  let slept = () => {}
  const asleep = new Promise<void>((resolve) => {
    slept = resolve
  })
  const slow: Connection = {
    ...first.connection,
    masters: () => first.connection.masters(),
    async send(command, shape) {
      sent += 1
      if (sent === 2) {
        slept()
        await sleeping
      }
      return first.connection.send(command, shape)
    },
  }
  const late = moveAcross(slow, prefix, from, to)
  await asleep
  const keys = open(schemaAt(2), second.connection, { prefix })
  expect(await keys.items({ id }).popFront()).toBe('0')
  expect(await keys.items({ id }).popFront()).toBe('1')
  wake()
  expect(await late).toBe('moved')
  expect(await keys.items({ id }).range()).toEqual([])
  expect(await send('EXISTS', to)).toBe(0)
})

test('another value at the new name stays, and so does the old one, however often the move is tried', async () => {
  const prefix = `${unique()}:`
  const id = idApart(prefix, 'items')
  const [from, to] = [`${prefix}old:items:${id}`, `${prefix}new:items:${id}`] as const
  await send('RPUSH', from, 'old')
  await send('RPUSH', to, 'new')
  const moves = [first, second, first].map(({ connection }) => moveAcross(connection, prefix, from, to))
  for (const moved of await Promise.all(moves)) expect(['taken', 'absent']).toContain(moved)
  expect(await send('LRANGE', from, 0, -1)).toEqual(['old'])
  expect(await send('LRANGE', to, 0, -1)).toEqual(['new'])
  const keys = open(schemaAt(2), second.connection, { prefix })
  await expect(keys.items({ id }).range()).rejects.toMatchObject({ code: 'E_TWO_NAMES' })
  await send('UNLINK', to)
  expect(await moveAcross(first.connection, prefix, from, to)).toBe('moved')
  expect(await keys.items({ id }).range()).toEqual(['old'])
})

test('a move goes back and forth under programs at 1 and 2, which follow it', async () => {
  const prefix = `${unique()}:`
  const id = idApart(prefix, 'items')
  await send('RPUSH', `${prefix}old:items:${id}`, '0')
  const programs = ([1, 2] as const).map((phase) => open(schemaAt(phase), second.connection, { prefix }))
  const expected = ['0']
  for (const work of [runMigration, rollBackMigration, runMigration, rollBackMigration]) {
    await drain(work(schemaAt(2), first.connection, { prefix, maxLoad: 1 }))
    for (const keys of programs) {
      expect(await keys.items({ id }).range()).toEqual(expected)
      await keys.items({ id }).pushBack(`${expected.length}`)
      expected.push(`${expected.length}`)
    }
  }
  expect(await send('LLEN', `${prefix}old:items:${id}`)).toBe(expected.length)
})
