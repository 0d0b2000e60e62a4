import type { OwnedPattern } from 'keyspec/extend'
import type { DecodedPart } from './decoded.ts'
import type { Eviction } from '../scan/eviction.ts'
import { expectedType } from '../match/expected-type.ts'
import type { KeyFacts } from '../scan/scan.ts'

/** What may be wrong with a key. */
export type FindingCode =
  | 'unknown-key'
  | 'wrong-type'
  | 'no-ttl'
  | 'ttl-too-long'
  | 'expires'
  | 'undecodable'
  | 'legacy-name'
  | 'two-names'
  | 'over-budget'
  | 'evictable'
  | 'external-shape'
  | 'inconsistent'

/** A fault of one key, before it is put into words. */
export interface Fault {
  readonly code: Exclude<FindingCode, 'unknown-key'>
  readonly owned: OwnedPattern
  readonly detail?: string
  /** The type that it should have. */
  readonly expected?: string
  /** How bad: the TTL in ms, the bytes of memory. */
  readonly amount?: number
}

/** What is wrong with a key of an entry, its value apart. */
export function faultsOf(
  seen: KeyFacts,
  owned: OwnedPattern,
  eviction: Eviction | undefined,
): readonly Fault[] {
  const { spec } = owned
  let faults: Fault[] | undefined
  const fault = (found: Fault) => (faults ??= []).push(found)
  const expected = expectedType(owned, seen.name!)
  if (expected === undefined) fault({ code: 'external-shape', owned })
  else if (expected !== seen.type) fault({ code: 'wrong-type', owned, detail: seen.type, expected })
  const declaredMs = spec.lifetime.ttlMs
  if (declaredMs !== 'forever') {
    // Jitter only shortens, so what is declared is the longest.
    if (seen.ttlMs === 'forever') fault({ code: 'no-ttl', owned })
    else if (seen.ttlMs! > declaredMs) fault({ code: 'ttl-too-long', owned, amount: seen.ttlMs! })
  } else if (typeof seen.ttlMs === 'number' && spec.external === undefined)
    fault({ code: 'expires', owned, amount: seen.ttlMs })
  // At phase 1 keys are meant to have their old names.
  if (owned.legacy && owned.spec.phase !== 1) fault({ code: 'legacy-name', owned })
  if (spec.budgetBytes !== undefined && seen.bytes! > spec.budgetBytes)
    fault({ code: 'over-budget', owned, amount: seen.bytes! })
  if (!spec.evictable && mayBeEvicted(seen, owned, eviction))
    fault({ code: 'evictable', owned, detail: eviction!.policy })
  // Nearly all keys are sound, and share one answer.
  return faults ?? NONE
}

const NONE: readonly Fault[] = []

function mayBeEvicted(seen: KeyFacts, { spec }: OwnedPattern, eviction: Eviction | undefined): boolean {
  if (eviction?.keys === 'all') return true
  // Another program that gives its key a time to live expects it to go.
  return eviction?.keys === 'volatile' && seen.ttlMs !== 'forever' && spec.external === undefined
}

/** Where in a value, without a word of what is there: the names of fields that are not declared are data too. */
export function whereUndecodable({ codec, field, named }: DecodedPart): string {
  if (field === undefined) return `it is no ${codec}`
  return named === true ? `field ${JSON.stringify(field)} is no ${codec}` : `a field is no ${codec}`
}
