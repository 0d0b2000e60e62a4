import type { Remedy } from '../remedy/remedy.ts'
import type { Phase } from 'keyspec'

/**
 * What a change asks for. `safe`: nothing. `version`: what is stored is misread, so it should get another name. `migration`: what
 * is stored must be moved or fixed. `breaks`: programs that still run with the old declaration cannot read what is written.
 */
export type Impact = 'safe' | 'version' | 'migration' | 'breaks'

/** One change between two manifests. */
export interface Change {
  readonly code: ChangeCode
  readonly impact: Impact
  readonly entry: string
  readonly pattern: string
  /** The pattern that it had before, where it had another. */
  readonly before?: string
  readonly message: string
  /** What to do, where something is to be done. */
  readonly advice?: string
  /** The same as data, where a tool does it. */
  readonly remedy?: Remedy
  /** Of a rename: the phases before and now. */
  readonly phases?: readonly [before: Phase, now: Phase]
  /** When the last key that was written under the old declaration is gone, in ms from its last write; absent for what is new. */
  readonly oldKeysGoneAfterMs?: number | 'never'
}

/** What can change. */
export type ChangeCode =
  | 'prefix-changed'
  | 'added'
  | 'removed'
  | 'entry-renamed'
  | 'placeholder-renamed'
  | 'placeholder-widened'
  | 'placeholder-narrowed'
  | 'renamed'
  | 'old-name-dropped'
  | 'phase-changed'
  | 'hash-tag-changed'
  | 'type-changed'
  | 'codec-changed'
  | 'value-changed'
  | 'field-added'
  | 'field-removed'
  | 'lifetime-changed'
  | 'param-changed'
  | 'subject-changed'
  | 'evictable-changed'
  | 'budget-changed'
  | 'owner-changed'
  | 'fingerprint-changed'
  | 'version-raised'
  | 'layout-changed'

/** A change, before it is known where. */
export type BareChange = Pick<Change, 'code' | 'impact' | 'message' | 'advice' | 'remedy' | 'phases'>
