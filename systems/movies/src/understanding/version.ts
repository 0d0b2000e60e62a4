import { type Environment, SettingsError } from '@keyspec-systems/model'

import { wholeNumber } from '../settings.ts'
import { rulesFingerprint } from './embedded.ts'
import { graphFingerprint } from './graph.ts'
import type { Understander } from './understander.ts'

/**
 * The `N` of `qu:v<N>:<queryHash>`. Raise it with any change of a prompt or rule, the model, its sampling, the schema or
 * `normalised`, and record the new fingerprints below; old entries expire within a day.
 */
export const QU_VERSION = 1

/** What the code would record for `QU_VERSION` now: for a language model of the prompts and the schema alone. */
export function fingerprints(): { readonly rules: string; readonly graph: string } {
  return { rules: rulesFingerprint, graph: graphFingerprint({ model: 'any', sampling: { temperature: 0 } }) }
}

/** What each version stood for; the tests fail when the code gives other fingerprints and `QU_VERSION` stayed. */
export const recorded: Readonly<Record<number, { readonly rules: string; readonly graph: string }>> = {
  1: {
    rules: 'af7985fb799bf2f0825c9eba3517e2bb35702e5b61d6905dfec6bdfd131e6b85',
    /** Of the prompts and the schema, with the model `any` at temperature 0. */
    graph: '8dd56bd7e4aee8cfa2afd375818fe1d692a5dbbc7a5384d9ce95a42a8bc5859f',
  },
}

/**
 * The version under which what this understander says may be kept. A configured language model has a version and a
 * fingerprint of its own, in `MOVIES_QU_VERSION` and `MOVIES_QU_FINGERPRINT`, since only the operator knows what stood
 * in Redis before. A `SettingsError` says what to raise and record when the fingerprint has changed and `N` has not.
 */
export function versionOf({ model, fingerprint }: Understander, environment: Environment): number {
  const version = wholeNumber(environment, 'MOVIES_QU_VERSION', QU_VERSION)
  const given = environment['MOVIES_QU_FINGERPRINT']?.trim()
  // What the code has on record cannot be given away to another understanding.
  const expected = recorded[version]?.rules ?? (given || undefined)
  if (fingerprint === expected) return version
  const remedy = `set MOVIES_QU_VERSION to a number that was never used, and MOVIES_QU_FINGERPRINT to ${fingerprint}`
  throw new SettingsError(
    expected === undefined
      ? `qu:v${version} has no fingerprint on record; to understand queries with ${model}, ${remedy}`
      : `qu:v${version} stands for another understanding of queries than ${model} has now; ${remedy}`,
  )
}
