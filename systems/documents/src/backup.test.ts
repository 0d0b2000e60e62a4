import {
  diffServers,
  exportKeys,
  importKeys,
  inspectArchive,
  previewImport,
  type SelectionOptions,
  selectKeys,
} from '@keyspec/inspect'
import { startRedis, type TemporaryRedis } from 'keyspec/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Opened, openDocuments } from './keyspace.ts'

const servers: TemporaryRedis[] = []
let from: Opened
let to: Opened

beforeAll(async () => {
  servers.push(await startRedis(), await startRedis())
  from = await openDocuments(servers[0]!.url)
  to = await openDocuments(servers[1]!.url)
})

afterAll(async () => {
  from.close()
  to.close()
  for (const server of servers) await server.stop()
})

/** A backup, as the bytes of its file. */
async function backup(chosen: SelectionOptions): Promise<Buffer> {
  const chunks: Buffer[] = []
  const how = { schema: from.schema, keyspec: '0.1.0', maxLoad: 1 }
  for await (const { bytes } of exportKeys(from.connection, selectKeys(from.schema, chosen), how))
    chunks.push(bytes)
  return Buffer.concat(chunks)
}

test('one kind of data is backed up by its prefix, and comes back on another server as it was', async () => {
  const [source, target] = servers as [TemporaryRedis, TemporaryRedis]
  await from.keys
    .chunks({ documentUuid: 'a' })
    .set({ document_uuid: 'a', max_tokens: 9, overlap_tokens: 1, chunks: [] })
  await from.keys.batchProgress({ batchId: 'b1' }).set({ total: 3, pending: 3 })
  await source.command('SET', 'cache2:doc:chunks:a', 'of somebody else')
  await source.command('SET', 'cache', 'of somebody else')
  await source.command('LPUSH', 'broker:default:wait', '1')

  const bytes = await backup({ under: 'cache:' })
  const file = async function* () {
    yield bytes
  }
  const contents = await inspectArchive(file)
  expect(contents.entries.map(({ entry }) => entry)).toEqual(['chunks'])
  expect(await previewImport(to.connection, file, { maxLoad: 1 })).toMatchObject({ existing: 0 })
  await importKeys(to.connection, file, { maxLoad: 1 })

  expect(await target.command('DBSIZE')).toBe(1)
  expect(await to.keys.chunks({ documentUuid: 'a' }).get()).toMatchObject({ max_tokens: 9 })
  expect(await target.command('PEXPIRETIME', 'cache:doc:chunks:a')).toBe(
    await source.command('PEXPIRETIME', 'cache:doc:chunks:a'),
  )
  const cache = selectKeys(from.schema, { under: 'cache:' })
  for await (const { differences } of diffServers(from.connection, to.connection, cache, { maxLoad: 1 }))
    expect(differences).toEqual([])
})

test('a backup that was cut off or changed is refused before anything is written', async () => {
  await from.keys.batchProgress({ batchId: 'b2' }).set({ total: 3, pending: 3 })
  const bytes = await backup({ entries: ['batchProgress'] })
  const changed = Buffer.from(bytes)
  changed[bytes.length >> 1]! ^= 1
  for (const [broken, said] of [
    [bytes.subarray(0, -1), 'was cut off'],
    [changed, 'is damaged'],
  ] as const) {
    const read = inspectArchive(async function* () {
      yield broken
    })
    await expect(read).rejects.toThrow(said)
  }
})
