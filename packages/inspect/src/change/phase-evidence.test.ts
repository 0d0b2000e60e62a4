import { mount, open, type Phase, string, text } from 'keyspec'
import { unique } from 'keyspec/testing'
import { expect, test } from 'vitest'
import { connected } from '../../../../test-support/connected.ts'
import { compareManifests } from '../manifest/compare.ts'
import { manifest } from '../manifest/manifest.ts'
import { withEvidence } from './phase-evidence.ts'

const { redis, connection } = await connected()
const schemaAt = (phase: Phase) => ({
  app: mount('app:', {
    doc: string('doc:<id>', text, { ttl: '1h', renamedFrom: { pattern: 'd:<id>', phase } }),
    other: string('other:<id>', text, { ttl: '1h' }),
  }),
})

async function judge(prefix: string, before: Phase, now: Phase) {
  const changes = compareManifests(
    manifest(schemaAt(before), { prefix }),
    manifest(schemaAt(now), { prefix }),
  )
  const [change] = await withEvidence(changes, schemaAt(now), connection, { prefix, maxLoad: 1 })
  return change!
}

test('going on is safe only where the server holds no key at an old name', async () => {
  const prefix = `${unique()}:`
  for (const [before, now] of [
    [1, 2],
    [2, 3],
  ] as const) {
    expect(await judge(prefix, before, now)).toMatchObject({ impact: 'safe', code: 'phase-changed' })
    await redis.command('SET', `${prefix}app:d:1`, 'x')
    const held = await judge(prefix, before, now)
    expect(held).toMatchObject({ impact: 'migration', phases: [before, now] })
    expect(held.message).toContain('1 keys at an old name, 0 of them at both')
    expect(held.advice).toContain(now === 2 ? 'no server shows' : 'keys stand at an old name: move them')
    expect(held.remedy?.kind).toBe(now === 2 ? undefined : 'migrate')
    await redis.command('SET', `${prefix}app:doc:1`, 'y')
    expect((await judge(prefix, before, now)).advice).toContain('keys stand at both names')
    await redis.command('DEL', `${prefix}app:d:1`, `${prefix}app:doc:1`)
  }
})

test('phase 3 is not safe while programs at phase 1 run', async () => {
  const prefix = `${unique()}:`
  const early = open(schemaAt(1), connection, { prefix })
  expect(await early.app.doc({ id: 1 }).get()).toBeUndefined()
  const held = await judge(prefix, 2, 3)
  expect(held).toMatchObject({ impact: 'migration' })
  expect(held.message).toMatch(/used in the last minute: phase 1 \d s ago/)
  expect(held.advice).toContain('programs at phase 1 run')
  expect(await judge(prefix, 1, 2)).toMatchObject({ impact: 'safe' })
})

test('nothing on the server makes a phase that was left out safe', async () => {
  expect(await judge(`${unique()}:`, 1, 3)).toMatchObject({ impact: 'breaks' })
})
