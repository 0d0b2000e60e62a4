import type { Owned } from '../schema.ts'
import type { Decoded } from './decoded.ts'
import type { Eviction } from './eviction.ts'
import { expectedType } from './expected-type.ts'
import type { FindingCode } from './finding.ts'
import type { SeenKey } from './walk.ts'

/** A fault of one key, before it is put into words. */
export interface Fault {
  readonly code: Exclude<FindingCode, 'unknown-key'>
  readonly owned: Owned
  readonly detail?: string
  /** The type that it should have. */
  readonly expected?: string
  /** How bad: the TTL in ms, the bytes of memory. */
  readonly amount?: number
}

/** What is wrong with a key of an entry, its value apart. */
export function faultsOf(seen: SeenKey, owned: Owned, eviction: Eviction | undefined): readonly Fault[] {
  const { spec } = owned
  let faults: Fault[] | undefined
  const fault = (found: Fault) => (faults ??= []).push(found)
  const expected = expectedType(owned, seen.name!)
  if (expected === undefined) fault({ code: 'foreign-shape', owned })
  else if (expected !== seen.type) fault({ code: 'wrong-type', owned, detail: seen.type, expected })
  const declaredMs = spec.lifetime.ttlMs
  if (declaredMs !== 'forever') {
    // Jitter only shortens, so what is declared is the longest.
    if (seen.ttlMs === 'forever') fault({ code: 'no-ttl', owned })
    else if (seen.ttlMs! > declaredMs) fault({ code: 'ttl-too-long', owned, amount: seen.ttlMs! })
  }
  if (owned.legacy) fault({ code: 'legacy-name', owned })
  if (spec.budgetBytes !== undefined && seen.bytes! > spec.budgetBytes)
    fault({ code: 'over-budget', owned, amount: seen.bytes! })
  if (!spec.evictable && mayBeEvicted(seen, owned, eviction))
    fault({ code: 'evictable', owned, detail: eviction!.policy })
  // Nearly all keys are sound, and share one answer.
  return faults ?? NONE
}

const NONE: readonly Fault[] = []

function mayBeEvicted(seen: SeenKey, { spec }: Owned, eviction: Eviction | undefined): boolean {
  if (eviction?.keys === 'all') return true
  // Another program that gives its key a time to live expects it to go.
  return eviction?.keys === 'volatile' && seen.ttlMs !== 'forever' && spec.foreign === undefined
}

/** Where in a value, without a word of what is there: the names of fields that are not declared are data too. */
export function whereUndecodable({ codec, field, named }: Decoded): string {
  if (field === undefined) return `it is no ${codec}`
  return named === true ? `field ${JSON.stringify(field)} is no ${codec}` : `a field is no ${codec}`
}
