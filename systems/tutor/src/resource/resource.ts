import type { Passage } from '@keyspec-systems/model'

/** Something that a session learns from. */
export interface Resource extends Passage {
  readonly kind: 'text' | 'web' | 'video' | 'file'
}
