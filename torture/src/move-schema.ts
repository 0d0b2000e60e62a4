import { string, text } from 'keyspec'

/** How long the keys live that are migrated and imported. */
export const MOVED_TTL_MS = 3_600_000

const options = { ttl: '1h' } as const

/** The keys before a migration, after it, and while it runs. */
export const before = { page: string('old:<id>', text, options) }
export const after = { page: string('new:<id>', text, options) }
export const moving = {
  page: string('new:<id>', text, { ...options, renamedFrom: { pattern: 'old:<id>', phase: 2 } }),
}
