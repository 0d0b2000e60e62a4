import { expect, test } from 'vitest'

import { loadCatalogue } from '../catalogue/catalogue.ts'
import { embeddedUnderstander } from './embedded.ts'
import type { Understander } from './understander.ts'
import { fingerprints, QU_VERSION, recorded, versionOf } from './version.ts'

const rules = embeddedUnderstander(loadCatalogue())

const changed: Understander = { ...rules, fingerprint: 'f'.repeat(64) }

test('what is on record for N is what the code does: if not, raise QU_VERSION and record the new fingerprints', () => {
  expect(recorded[QU_VERSION]).toEqual(fingerprints())
})

test('no two versions stand for the same understanding', () => {
  const all = Object.values(recorded).map(({ rules, graph }) => `${rules} ${graph}`)
  expect(new Set(all).size).toBe(all.length)
})

test('an unchanged understanding keeps its version', () => {
  expect(versionOf(rules, {})).toBe(QU_VERSION)
})

test('a changed understanding under the same N is refused, with what to set', () => {
  expect(() => versionOf(changed, {})).toThrow(`MOVIES_QU_FINGERPRINT to ${changed.fingerprint}`)
  expect(() => versionOf(changed, { MOVIES_QU_FINGERPRINT: changed.fingerprint })).toThrow(
    'stands for another understanding',
  )
})

test('a configured model has a version and a fingerprint of its own, and is refused when it changes', () => {
  const environment = { MOVIES_QU_VERSION: '7', MOVIES_QU_FINGERPRINT: changed.fingerprint }
  expect(versionOf(changed, environment)).toBe(7)
  expect(() => versionOf({ ...changed, fingerprint: '0'.repeat(64) }, environment)).toThrow(
    'qu:v7 stands for',
  )
  expect(() => versionOf(changed, { MOVIES_QU_VERSION: '7' })).toThrow('qu:v7 has no fingerprint on record')
})
