import type { Duration } from 'keyspec'
import type { KeyState } from './archive/key-state.ts'

/** A key that is not the same on both sides. */
export interface Difference {
  readonly key: Buffer
  /** The entry that owns it, if one does. */
  readonly entry: string | undefined
  readonly kind: 'only-here' | 'only-there' | 'different'
  /** In what it differs; `bytes` where the dumped bytes do, and whether the value does cannot be told from a file. */
  readonly what: readonly ('type' | 'value' | 'ttl' | 'bytes')[]
  readonly here: Side | undefined
  readonly there: Side | undefined
}

/** What one side has of it. */
export interface Side {
  readonly type: string
  readonly ttlMs: number | 'forever'
}

/** How two sides are compared. */
export interface DiffOptions {
  /** How far expiries may be apart: 5 s unless told. What expires within it may be gone on one side. */
  readonly ttlTolerance?: Duration | undefined
  /** The largest part of each server's time to take: 0.1 unless told. */
  readonly maxLoad?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Some more keys that were compared, and how many. */
export interface Compared {
  readonly keys: number
  readonly differences: readonly Difference[]
}

const LOOKS = 3

interface Look {
  readonly a: KeyState | undefined
  readonly b: KeyState | undefined
  /** Whether the values are equal, by contents; `undefined` where it cannot be told. */
  readonly same: (type: string) => Promise<boolean | undefined>
}

/** Looks again at a key that seems to differ, until it is the same before and after its contents were compared. */
export async function settled(
  key: Buffer,
  entry: string | undefined,
  toleranceMs: number,
  look: () => Promise<Look>,
): Promise<Difference | undefined> {
  for (let looks = 1; ; looks += 1) {
    const { a, b, same } = await look()
    let what: Difference['what'] = judged(a, b, toleranceMs)
    if (what.length === 0) return undefined
    const [here, there] = [sideOf(a), sideOf(b)]
    if (a === undefined) return { key, entry, kind: 'only-there', what: [], here, there }
    if (b === undefined) return { key, entry, kind: 'only-here', what: [], here, there }
    if (what.includes('value') && a.type !== 'string') {
      const isSame = await same(a.type)
      if (isSame === true) what = what.filter((each) => each !== 'value')
      if (isSame === undefined) what = what.map((each) => (each === 'value' ? 'bytes' : each))
      if (what.length === 0) return undefined
      const again = await look()
      const isStill = again.a?.digest === a.digest && again.b?.digest === b.digest
      if (!isStill && looks < LOOKS) continue
    }
    return { key, entry, kind: 'different', what, here, there }
  }
}

/** Returns the differences between two states. One that is about to expire does not differ from one that just did. */
export function judged(
  a: KeyState | undefined,
  b: KeyState | undefined,
  toleranceMs: number,
): readonly ('type' | 'value' | 'ttl')[] {
  if (a === undefined || b === undefined) {
    const left = (a ?? b)?.ttlMs
    return left === undefined || (left !== 'forever' && left <= toleranceMs) ? [] : ['value']
  }
  if (a.type !== b.type) return ['type']
  const isApart =
    a.ttlMs === 'forever' || b.ttlMs === 'forever'
      ? a.ttlMs !== b.ttlMs
      : Math.abs(a.ttlMs - b.ttlMs) > toleranceMs
  return [...(a.digest === b.digest ? [] : ['value' as const]), ...(isApart ? ['ttl' as const] : [])]
}

function sideOf(state: KeyState | undefined): Side | undefined {
  return state === undefined ? undefined : { type: state.type, ttlMs: state.ttlMs }
}
