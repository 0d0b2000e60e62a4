import { mount, open, type Phase, string, text } from 'keyspec'
import { unique } from 'keyspec/testing'
import { describe, expect, test } from 'vitest'
import { all, connected } from '../../../../test-support/connected.ts'
import { audit } from './audit.ts'
import { diffServers } from '../transfer/diff.ts'
import { explain } from './explain.ts'
import { selectKeys } from '../scan/selection.ts'
import { stats } from '../measure/stats.ts'
import { usage } from '../measure/usage.ts'

const { redis, connection } = await connected()
const { redis: otherRedis, connection: other } = await connected()

const at = (phase: Phase) => {
  const options = { ttl: '1h', renamedFrom: { pattern: ['old:<id>', 'older:<id>'], phase } } as const
  return { inner: mount('m:', { note: string('new:<id>', text, options) }) }
}

describe('a key under two names', () => {
  test.each([1, 2, 3] as const)(
    'is a finding of the audit at phase %i, once for each old name',
    async (phase) => {
      const schema = at(phase)
      const prefix = `${unique()}:`
      for (const name of [
        'new:1',
        'old:1',
        'new:2',
        'old:3',
        'older:3',
        'older:4',
        'new:5',
        'old:5',
        'older:5',
      ])
        await redis.command('SET', `${prefix}m:${name}`, 'x', 'EX', 60)
      const steps = await all(audit(schema, connection, { prefix, maxLoad: 1 }))
      const found = steps.flatMap(({ findings }) => findings)
      const double = found.filter(({ code }) => code === 'two-names')
      expect(
        double
          .map(({ severity, entry, pattern, count, samples }) => [
            severity,
            entry,
            pattern,
            count,
            samples.toSorted(),
          ])
          .toSorted(),
      ).toEqual([
        ['error', 'inner.note', `${prefix}m:old:<id>`, 2, [`${prefix}m:old:1`, `${prefix}m:old:5`]],
        ['error', 'inner.note', `${prefix}m:older:<id>`, 2, [`${prefix}m:older:3`, `${prefix}m:older:5`]],
      ])
      // What verbs say of them.
      const { note } = open(schema, connection, { prefix }).inner
      for (const id of [1, 3, 5]) {
        const read = note({ id }).get()
        if (phase === 3) await read
        else await expect(read).rejects.toMatchObject({ code: 'E_TWO_NAMES' })
      }
      expect(double[0]!.message).toContain(phase === 3 ? 'use that one alone' : 'E_TWO_NAMES')
      for (const name of ['new:1', 'old:1', 'old:3', 'older:3'])
        expect(
          (await explain(schema, connection, Buffer.from(`${prefix}m:${name}`), { prefix })).faults,
        ).toContainEqual(expect.objectContaining({ code: 'two-names' }))
      const { faults } = await explain(schema, connection, Buffer.from(`${prefix}m:new:2`), { prefix })
      expect(faults).toEqual([])
    },
  )
})

test('no tool takes what Keyspec keeps during a rename for a key of no entry', async () => {
  const schema = at(2)
  const prefix = `${unique()}:`
  await open(schema, connection, { prefix }).inner.note({ id: 1 }).set('x')
  const register = `${prefix}m:keyspec:phases`
  const aside = `${prefix}m:keyspec:moving:{${prefix}m:old:7}`
  const note = `${prefix}m:keyspec:moved:{${prefix}m:old:7}`
  await redis.command('SET', aside, 'y')
  await redis.command('HSET', note, 'away', '')
  for (const key of [register, aside, note]) {
    expect(await redis.command('EXISTS', key), key).toBe(1)
    const told = await explain(schema, connection, Buffer.from(key), { prefix })
    expect(told).toMatchObject({ owned: undefined, nearest: [], faults: [] })
    expect(told.ownUse).toMatch(/phases|on its way|has moved/)
  }
  const steps = await all(audit(schema, connection, { prefix, maxLoad: 1 }))
  expect(steps.flatMap(({ findings }) => findings)).toEqual([])
  for (const how of [{ exact: true }, { sample: 1000 }]) {
    const { groups, all: sum } = await stats(schema, connection, { prefix, maxLoad: 1, ...how })
    expect(groups.map(({ name }) => name)).toEqual(['inner.note'])
    expect(sum.keys.value).toBe(1)
  }
  const counted = await usage(schema, connection, { prefix })
  expect(counted.at(-1)).toMatchObject({ owned: undefined, keys: 0 })
  // Programs write the register all the time, so it is neither compared nor carried over. What is on its way is data.
  const selection = selectKeys(schema, { prefix })
  expect(selection.has(register)).toBe(false)
  expect([aside, note].map((key) => selection.has(key))).toEqual([true, true])
  await redis.command('DEL', aside, note)
  await otherRedis.command('SET', `${prefix}m:new:1`, 'x', 'EX', 3600)
  const differences = await all(diffServers(connection, other, selection, { maxLoad: 1 }))
  expect(differences.flatMap((step) => step.differences)).toEqual([])
})
