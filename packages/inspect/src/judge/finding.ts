import { spell } from 'keyspec/extend'
import type { FindingCode, Fault } from './fault.ts'
import { escapeKey } from '../match/key-name.ts'
import type { Remedy } from '../remedy/remedy.ts'

/** What an audit found: of one key, or of all that are alike in entry, pattern and fault. */
export interface Finding {
  readonly code: FindingCode
  /** An `error` breaks a reader or loses data, a `warning` is a debt. */
  readonly severity: 'error' | 'warning'
  /** Whose they are; `undefined` where no entry owns them. */
  readonly entry: string | undefined
  /** The pattern that they are of; guessed, where no entry owns them. */
  readonly pattern: string | undefined
  /** What tells them apart from others of the same pattern: the type found, the field that cannot be read. */
  readonly detail: string | undefined
  /** How many keys. */
  readonly count: number
  /** Up to three of them, as `escapeKey`, long ones cut. */
  readonly samples: readonly string[]
  readonly message: string
  /** What to do; `undefined` where the sample is too long to be named whole. */
  readonly remedy: Remedy | undefined
}

/** Keys that have the same fault. */
export class FaultGroup {
  readonly fault: Fault
  #count = 0
  #worst: number | undefined
  readonly #samples: string[] = []

  constructor(fault: Fault) {
    this.fault = fault
  }

  add(key: Buffer, amount: number | undefined): void {
    this.#count += 1
    if (amount !== undefined) this.#worst = Math.max(this.#worst ?? 0, amount)
    if (this.#samples.length < SAMPLES) this.#samples.push(cut(key))
  }

  finding(): Finding {
    const { code, owned, detail } = this.fault
    const [sample] = this.#samples
    return {
      code,
      severity: ERRORS.has(code) ? 'error' : 'warning',
      entry: owned.entry,
      // Whether keys may be evicted is a matter of the entry.
      pattern: code === 'evictable' ? undefined : owned.pattern.text,
      detail,
      count: this.#count,
      samples: this.#samples,
      message: messageOf(this.fault, this.#worst),
      remedy: remedyOf(this.fault, sample!),
    }
  }
}

/** Keys of no entry that look alike. */
export interface Stray {
  count: number
  readonly samples: string[]
}

/** Keys of no entry, as a finding; their guessed pattern is that of what follows the keyspace's prefix. */
export function strayFinding(prefix: string, pattern: string, { count, samples }: Stray): Finding {
  // Up to the first placeholder, or to what is shown otherwise than it stands there.
  const [under = ''] = pattern.split(/[<\\]/, 1)
  return {
    code: 'unknown-key',
    severity: 'warning',
    entry: undefined,
    pattern: prefix + pattern,
    detail: undefined,
    count,
    samples,
    message: 'no entry owns it',
    remedy: { kind: 'declare', under },
  }
}

/** Remembers one of up to three keys. */
export function noteStray(stray: Stray, key: Buffer): void {
  stray.count += 1
  if (stray.samples.length < SAMPLES) stray.samples.push(cut(key))
}

/** Adds up what was taken for two patterns. */
export function joinStrays(into: Stray, from: Stray): void {
  into.count += from.count
  into.samples.push(...from.samples.slice(0, SAMPLES - into.samples.length))
}

const SAMPLES = 3
const LONGEST_SAMPLE = 256
// A key that ends with it is taken for one that was cut, and then nothing is advised of it.
const CUT = '…'
const ERRORS: ReadonlySet<FindingCode> = new Set([
  'wrong-type',
  'no-ttl',
  'expires',
  'undecodable',
  'two-names',
  'evictable',
  'inconsistent',
])

function cut(key: Buffer): string {
  return key.length <= LONGEST_SAMPLE ? escapeKey(key) : `${escapeKey(key.subarray(0, LONGEST_SAMPLE))}${CUT}`
}

function messageOf({ code, owned, detail, expected }: Fault, worst: number | undefined): string {
  const { spec } = owned
  const declared = spec.lifetime.ttlMs === 'forever' ? 'forever' : spell(spec.lifetime.ttlMs)
  switch (code) {
    case 'wrong-type':
      return `holds a ${detail}, declared is a ${expected}`
    case 'no-ttl':
      return `never expires, declared is ${declared}`
    case 'ttl-too-long':
      return `has up to ${spelled(worst!)} to live, declared is ${declared}`
    case 'expires':
      return `expires, within ${spelled(worst!)} at the latest, declared is forever`
    case 'undecodable':
      return `holds a value that its codec cannot read: ${detail}`
    case 'legacy-name':
      return `has its old name, and is to become ${spec.pattern.text}`
    case 'two-names':
      return spec.phase === 3
        ? 'exists under a newer name too, and programs use that one alone'
        : 'exists under a newer name too, and nothing says which value counts: verbs but delete reject with E_TWO_NAMES'
    case 'over-budget':
      return `takes up to ${worst} bytes, its budget is ${spec.budgetBytes}`
    case 'evictable':
      return `may be evicted under ${detail}, and must not be`
    case 'inconsistent':
      return `does not agree with the other keys of its entry: ${detail} (up to ${worst})`
    case 'external-shape':
      return `is under a pattern of ${spec.external!.by}, which is not known to keep such a key`
  }
}

function remedyOf({ code, owned: { entry } }: Fault, sample: string): Remedy | undefined {
  switch (code) {
    case 'wrong-type':
    case 'undecodable':
    case 'external-shape':
      return sample.endsWith(CUT) ? undefined : { kind: 'explain', key: sample }
    case 'no-ttl':
      return { kind: 'give-ttl', entry }
    case 'ttl-too-long':
      return { kind: 'cap-ttl', entry }
    case 'expires':
      return sample.endsWith(CUT) ? undefined : { kind: 'persist', key: sample }
    case 'legacy-name':
      return { kind: 'migrate', entry }
    case 'two-names':
      return { kind: 'stop-then-migrate', entry }
    case 'over-budget':
      return { kind: 'see-biggest', entry }
    case 'inconsistent':
      return { kind: 'repair', entry }
    case 'evictable':
      return { kind: 'examine' }
  }
}

/** A span in two digits or so: exact where it is a whole number of its unit. */
function spelled(ms: number): string {
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1000],
  ] as const)
    if (ms >= size) return `${Number((ms / size).toFixed(1))}${unit}`
  return `${Math.round(ms)}ms`
}
