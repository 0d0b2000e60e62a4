import { json, list, string, text } from 'keyspec'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { audit } from '../judge/audit.ts'
import type { KeySource } from './source.ts'
import { stats } from '../measure/stats.ts'
import type { KeyFacts } from './scan.ts'

const schema = {
  session: string('session:<id>', json(v.object({ user: v.string() })), { ttl: '1h' }),
  viewed: list('viewed:<id>', text, { ttl: '1h' }),
}

const seen = (name: string, type: string, bytes: number): KeyFacts => ({
  key: Buffer.from(name),
  name,
  type,
  ttlMs: 60_000,
  bytes,
  encoding: 'raw',
})

const stored: readonly (readonly [KeyFacts, string])[] = [
  [seen('app:session:1', 'string', 100), '{"user":"ann"}'],
  [seen('app:session:2', 'string', 100), '{"user":'],
  [seen('app:viewed:1', 'string', 50), 'x'],
  [seen('app:stray', 'string', 70), 'x'],
]

/** Keys in memory, two a step. */
const source: KeySource = {
  sizes: async () => [stored.length],
  async *steps({ prefix = '' }) {
    for (let at = 0; at < stored.length; at += 2)
      yield {
        keys: stored
          .slice(at, at + 2)
          .map(([key]) => key)
          .filter(({ name }) => name!.startsWith(prefix)),
        master: 0,
      }
  },
  async *values(keys) {
    for (const key of keys) {
      const [, value] = stored.find(([each]) => each === key)!
      yield [{ type: key.type, count: value.length, omitted: 0, elements: [Buffer.from(value)] }]
    }
  },
  eviction: async () => undefined,
}

test('an audit of another source than a server finds what is there, and decodes it', async () => {
  const found: string[] = []
  const auditing = audit(schema, source, { prefix: 'app:' })
  for await (const { findings } of auditing)
    for (const { code, samples } of findings) found.push(`${code} ${samples.join()}`)
  expect(found.sort()).toEqual([
    'undecodable app:session:2',
    'unknown-key app:stray',
    'wrong-type app:viewed:1',
  ])
  expect(await auditing).toEqual({ keys: 4, decoded: 2, notDecoded: 0, eviction: undefined })
})

test('statistics of another source are exact, however much is chosen', async () => {
  const { exact, looked, groups } = await stats(schema, source, {
    prefix: 'app:',
    entries: ['session'],
    sample: 1,
  })
  expect([exact, looked]).toEqual([true, 2])
  expect(groups.map(({ name, bytes }) => [name, bytes.value])).toEqual([['session', 200]])
})
