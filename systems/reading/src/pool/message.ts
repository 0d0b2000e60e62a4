import type { UnreadableReason } from '../unreadable-error.ts'

/** What a reader's process is told. One document at a time: `next` asks for more of it, `leave` ends it early. */
export type ToReader =
  | { readonly ask: 'begin'; readonly task: string; readonly given: readonly unknown[] }
  | { readonly ask: 'next' }
  | { readonly ask: 'leave' }

/** What a reader's process answers, one answer a question; `ready` comes once, before all others. */
export type FromReader =
  | { readonly said: 'ready' }
  | { readonly said: 'item'; readonly item: unknown }
  | { readonly said: 'end'; readonly residentBytes: number }
  | { readonly said: 'unreadable'; readonly reason: UnreadableReason; readonly message: string }

/** How a reader's process is limited, as its first argument in JSON. */
export interface ReaderLimits {
  readonly maxResidentBytes: number
}
