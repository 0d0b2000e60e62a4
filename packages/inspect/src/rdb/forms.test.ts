import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { all } from '../../../../test-support/connected.ts'
import { Crc64 } from './crc64.ts'
import { SnapshotParser } from './parser.ts'
import type { SnapshotOptions } from './snapshot-facts.ts'
import { peekStored } from './peek-stored.ts'
import { readSnapshot } from './read-snapshot.ts'

// What no server at hand writes: modules, other versions, values of a size that a test should not ask of one.

const text = (value: string) => [value.length, ...Buffer.from(value)]
const double = [0, 0, 0, 0, 0, 0, 0xf8, 0x3f] // 1.5
const ms = [1, 0, 0, 0, 0, 0, 0, 0]

/** A snapshot of one key `k` of this type and value, with no checksum, and of a plain one behind it. */
function snapshot(
  type: number,
  value: readonly number[],
  magic = 'REDIS0012',
  before: readonly number[] = [],
): Buffer {
  const key = [type, ...text('k'), ...value]
  return Buffer.from([
    ...Buffer.from(magic),
    0xfe,
    0,
    ...before,
    ...key,
    0,
    ...text('next'),
    ...text('v'),
    0xff,
    ...Array(8).fill(0),
  ])
}

async function read(bytes: Buffer, size = bytes.length, options: SnapshotOptions = { valueBytes: 1000 }) {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  return (await all(readSnapshot(pieces(), new SnapshotParser(options)))).flat()
}

// A module's name is nine letters of six bits, then ten bits of a version.
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const moduleId =
  Array.from('ReJSON-RL').reduce((sum, letter) => sum * 64n + BigInt(letters.indexOf(letter)), 0n) << 10n
const moduleHead = [
  0x81,
  ...[7n, 6n, 5n, 4n, 3n, 2n, 1n, 0n].map((byte) => Number((moduleId >> (8n * byte)) & 255n)),
]
const modulePieces = [1, 5, 2, 0x40, 200, 3, 0, 0, 0, 0, 4, ...double, 5, ...text('{"a":1}'), 0]
// Of a listpack: its size, how many, the elements, each with its length behind, its end.
const listpack = (...elements: readonly string[]) => {
  const body = elements.flatMap((element) => [
    0x80 | element.length,
    ...Buffer.from(element),
    element.length + 1,
  ])
  const bytes = [body.length + 7, 0, 0, 0, elements.length, 0, ...body, 0xff]
  return [bytes.length, ...bytes]
}

test.each<[string, Buffer, object, readonly string[]]>([
  ['a module', snapshot(7, [...moduleHead, ...modulePieces]), { type: 'ReJSON-RL', encoding: 'raw' }, []],
  [
    'a list of old',
    snapshot(1, [2, ...text('a'), 0xc0, 7]),
    { type: 'list', encoding: 'linkedlist' },
    ['a', '7'],
  ],
  [
    'scores of old',
    snapshot(3, [2, ...text('a'), ...text('2.5'), ...text('b'), 254]),
    { type: 'zset', encoding: 'skiplist' },
    ['a', '2.5', 'b', 'inf'],
  ],
  ['scores', snapshot(5, [1, ...text('a'), ...double]), { type: 'zset', encoding: 'skiplist' }, ['a', '1.5']],
  ['a set of Redis 7.2', snapshot(20, listpack('a', 'b')), { type: 'set', encoding: 'listpack' }, ['a', 'b']],
  [
    'a short list of Redis 7.2',
    snapshot(18, [1, 2, ...listpack('a', 'b')]),
    { type: 'list', encoding: 'listpack' },
    ['a', 'b'],
  ],
  [
    'the same of Redis 7.0',
    snapshot(18, [1, 2, ...listpack('a', 'b')], 'REDIS0010'),
    { type: 'list', encoding: 'quicklist' },
    ['a', 'b'],
  ],
  [
    'fields with times to live',
    snapshot(24, [...ms, 1, 3, ...text('f'), ...text('v')]),
    { type: 'hash', encoding: 'hashtable' },
    ['f', 'v'],
  ],
  [
    'a few of them',
    snapshot(25, [...ms, ...listpack('f', 'v', '0')]),
    { type: 'hash', encoding: 'listpackex' },
    ['f', 'v'],
  ],
  [
    'the same to Valkey',
    snapshot(22, [1, ...text('f'), ...text('v'), ...ms], 'VALKEY080'),
    { type: 'hash', encoding: 'hashtable' },
    [],
  ],
  [
    'what stands between keys',
    snapshot(0, text('v'), 'REDIS0012', [
      0xf4,
      1,
      2,
      3,
      0xf5,
      ...text('code'),
      0xf6,
      ...text('n'),
      ...text('e'),
      1,
      ...text('d'),
      ...text('c'),
      0xf7,
      ...moduleHead,
      2,
      2,
      ...modulePieces,
    ]),
    { type: 'string', encoding: 'embstr' },
    ['v'],
  ],
  [
    'a time to live in seconds',
    snapshot(0, text('v'), 'REDIS0009', [0xfd, 0xff, 0xff, 0xff, 0x7f]),
    { ttlMs: expect.any(Number) },
    ['v'],
  ],
])('%s is read, in pieces of any size', async (_, bytes, told, elements) => {
  for (const size of [bytes.length, 1]) {
    const [key, next, ...others] = await read(bytes, size)
    expect(key).toMatchObject({ name: 'k', ...told })
    expect(peekStored(key!, 10, 1000).elements.map(String)).toEqual(elements)
    expect([next!.name, next!.ttlMs, others]).toEqual(['next', 'forever', []])
  }
})

test('a type that is not known is named, with the version', async () => {
  await expect(read(snapshot(26, [1], 'REDIS0013'))).rejects.toThrow(
    'type 26, which is not known here: it is of format 13',
  )
  await expect(read(snapshot(0, [1, 1], 'REDIS0012', [0xf1]))).rejects.toThrow('opcode 241')
  await expect(read(Buffer.from('PK\u0003\u0004 or whatever'))).rejects.toThrow('no snapshot')
  await expect(read(Buffer.from('hello\n'))).rejects.toThrow('no snapshot')
})

test('the checksum is that of Redis, whatever pieces it is taken of', () => {
  const bytes = Buffer.from('123456789')
  for (const at of [0, 1, 8, 9]) {
    const crc = new Crc64()
    crc.update(bytes, 0, at)
    crc.update(bytes, at, 9)
    expect(crc.is(Buffer.from('cad9b8c414d9c6e9', 'hex'), 0)).toBe(true)
  }
})

test('memory does not grow with the keys, nor with a value', { timeout: 60_000 }, async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const keys = Buffer.concat(
    Array.from({ length: 1000 }, (_, at) => Buffer.from([0, ...text(`key:${at}`), ...text('value')])),
  )
  const piece = Buffer.alloc(2 ** 20)
  // 200,000 keys, and one of 64 MB.
  async function* bytes() {
    yield Buffer.from('REDIS0012')
    for (let at = 0; at < 200; at += 1) yield keys
    yield Buffer.from([0, ...text('large'), 0x80, 4, 0, 0, 0])
    for (let at = 0; at < 64; at += 1) yield piece
    yield Buffer.from([0xff, ...Array(8).fill(0)])
  }
  const used = () => {
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const before = used()
  let count = 0
  let most = 0
  for await (const batch of readSnapshot(bytes(), new SnapshotParser({ valueBytes: 2 ** 20 }))) {
    count += batch.length
    if (count % 50_000 <= batch.length) most = Math.max(most, used() - before)
  }
  expect(count).toBe(200_001)
  expect(Math.max(most, used() - before)).toBeLessThan(16 * 2 ** 20)
})

test.each([
  ['Valkey 9.1.2', 'unknown'],
  ['Valkey 8.1.1', 'unknown'],
  ['Valkey 8.0.1', 'embstr'],
  ['Redis 8.0.6', 'embstr'],
])('a string of a snapshot that %s wrote is %s', async (server, encoding) => {
  const [name, version] = server.split(' ') as [string, string]
  const written = [0xfa, ...text(`${name.toLowerCase()}-ver`), ...text(version)]
  const [key] = await read(snapshot(0, text('v'), 'REDIS0011', written))
  expect(key).toMatchObject({ encoding })
})
