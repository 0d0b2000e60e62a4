import { mount, open, text } from 'keyspec'
import { cache } from 'keyspec/recipes'
import { unique } from 'keyspec/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { all } from '../../../../test-support/connected.ts'
import { clusterConnections, type Opened } from '../../../../test-support/connections.ts'
import { type Cluster, startCluster } from '../../../../test-support/index.ts'
import { audit } from './audit.ts'
import { erase } from '../change/erase.ts'
import { explain } from './explain.ts'
import { permissionsOf } from '../permission/permissions.ts'
import { usage } from '../measure/usage.ts'

const page = cache('page:<id>', text, { ttl: '1h', subject: 'id' })
const schema = { page, wiki: mount('wiki:', { page }) }

let cluster: Cluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterAll(() => cluster.stop())

describe.each(clusterConnections)('a cache without hash tag, over a cluster with %s', (_name, connect) => {
  let mine: Opened
  let other: Opened
  let prefix: string
  beforeAll(async () => {
    ;[mine, other] = [await connect(cluster), await connect(cluster)]
  })
  afterAll(() => Promise.all([mine.close(), other.close()]))
  beforeEach(() => {
    prefix = `${unique()}:`
  })

  const raw = async (...words: [string, string, ...string[]]) =>
    (await cluster.ownerOf(await cluster.slotOf(words[1]))).command(...words)

  /** Runs `during` while an entry is being loaded, and gives what the load gave. */
  async function whileLoading(
    load: () => Promise<unknown>,
    begun: Promise<void>,
    during: () => Promise<void>,
  ) {
    const loaded = load()
    await begun
    await during()
    return loaded
  }

  test('loads once for two processes, under a lock in the slot of its entry', async () => {
    const [ours, theirs] = [mine, other].map(({ connection }) => open(schema, connection, { prefix }))
    for (const [entry, name] of [
      [ours!.page, `${prefix}page:`],
      [ours!.wiki.page, `${prefix}wiki:page:`],
    ] as const) {
      for (let id = 0; id < 8; id++) {
        let loads = 0
        const begun = gate()
        const end = gate()
        const load = async () => {
          loads += 1
          begun.open()
          await end.opened
          return 'value'
        }
        const from = entry === ours!.page ? theirs!.page : theirs!.wiki.page
        let waiting: Promise<string> | undefined
        const before = name.slice(0, -'page:'.length)
        const lock = `${before}lock:{${name}${id}}`
        const loaded = await whileLoading(
          () => entry({ id }).getOrLoad(load),
          begun.opened,
          async () => {
            expect(await cluster.slotOf(lock)).toBe(await cluster.slotOf(`${name}${id}`))
            expect(await raw('TYPE', lock)).toBe('string')
            waiting = from({ id }).getOrLoad(load)
            end.open()
          },
        )
        expect([loaded, await waiting, loads]).toEqual(['value', 'value', 1])
        expect(await raw('GET', `${name}${id}`)).toBe('value')
        await expect.poll(() => raw('EXISTS', lock)).toBe(0)
      }
    }
  })

  test('what is deleted during a load does not come back, from the same or from another process', async () => {
    const [ours, theirs] = [mine, other].map(({ connection }) => open(schema, connection, { prefix }))
    for (const deleting of [ours!, theirs!]) {
      const begun = gate()
      const end = gate()
      const load = async () => {
        begun.open()
        await end.opened
        return 'older'
      }
      const early = ours!.page({ id: 1 }).getOrLoad(load)
      await begun.opened
      await deleting.page({ id: 1 }).delete()
      end.open()
      expect(await early).toBe('older')
      expect(await raw('GET', `${prefix}page:1`)).toBeNull()
      expect(await ours!.page({ id: 1 }).getOrLoad(() => 'newer')).toBe('newer')
      expect(await theirs!.page({ id: 1 }).getAndDelete()).toBe('newer')
    }
  })

  test('shares its lock with a program that declares the same name', async () => {
    const declared = { page: cache('page:<id>', text, { ttl: '1h', lock: `lock:{${prefix}page:<id>}` }) }
    const ours = open(schema, mine.connection, { prefix })
    const theirs = open(declared, other.connection, { prefix })
    let loads = 0
    const load = async () => `load ${(loads += 1)}`
    const values = await Promise.all([ours, theirs].map((keys) => keys.page({ id: 7 }).getOrLoad(load)))
    expect([values, loads]).toEqual([['load 1', 'load 1'], 1])
  })

  test('refuses a value with a brace, which would part the two, in every verb', async () => {
    const { page } = open(schema, mine.connection, { prefix })
    for (const id of ['a{b}c', 'a}b', '{}']) {
      const refused = expect.objectContaining({
        code: 'E_KEY',
        message: expect.stringContaining('has a brace'),
      })
      await expect(page({ id }).get()).rejects.toEqual(refused)
      await expect(page({ id }).set('x')).rejects.toEqual(refused)
      await expect(page({ id }).getOrLoad(() => 'x')).rejects.toEqual(refused)
      await expect(page({ id }).delete()).rejects.toEqual(refused)
      await expect(page.many([{ id: 1 }, { id }]).getOrLoad(async () => ['x'])).rejects.toEqual(refused)
    }
    // A key that stands there all the same is shown.
    await raw('SET', `${prefix}page:a{b}c`, 'x')
    const shown = []
    for await (const { params } of page.scan()) shown.push(params)
    expect(shown).toEqual([{ id: 'a{b}c' }])
  })
})

test('the tools know the lock of such a cache', async () => {
  const [, connect] = clusterConnections[0]!
  const { connection, close } = await connect(cluster)
  const prefix = `${unique()}:`
  try {
    const begun = gate()
    const end = gate()
    const loading = open(schema, connection, { prefix })
      .wiki.page({ id: 42 })
      .getOrLoad(async () => {
        begun.open()
        await end.opened
        return 'value'
      })
    await begun.opened
    const name = `${prefix}wiki:lock:{${prefix}wiki:page:42}`
    expect((await explain(schema, connection, Buffer.from(name), { prefix })).owned).toMatchObject({
      entry: 'wiki.page',
      pattern: { text: `${prefix}wiki:lock:{${prefix}wiki:page:<id>}` },
    })
    const steps = await all(audit(schema, connection, { prefix }))
    expect(steps.flatMap(({ findings }) => findings)).toEqual([])
    const counted = []
    for (const { owned, keys } of await usage(schema, connection, { prefix }))
      counted.push([owned?.pattern.text.slice(prefix.length), keys])
    expect(counted).toEqual([
      ['page:<id>', 0],
      [`lock:{${prefix}page:<id>}`, 0],
      ['wiki:page:<id>', 0],
      [`wiki:lock:{${prefix}wiki:page:<id>}`, 1],
      [undefined, 0],
    ])
    expect(permissionsOf(schema, prefix, { cluster: true }).map(({ rule }) => rule)).toEqual(
      expect.arrayContaining([
        `~${prefix}wiki:lock:{${prefix}wiki:page:*}`,
        `&${prefix}wiki:lock:{${prefix}wiki:page:*}`,
      ]),
    )
    const erased = []
    for await (const batch of erase(schema, connection, { prefix, subject: { id: '42' } })) erased.push(batch)
    const there = await connection.send(['EXISTS', name], { firstKey: 1, keyCount: 1 })
    expect(there).toBe(0)
    end.open()
    await loading
  } finally {
    await close()
  }
})

function gate() {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}
