import type { MigrateState } from '@keyspec/inspect'

/** What each state means, for people and for the JSON Schema. */
export const stateWords: Readonly<Record<MigrateState, string>> = {
  waiting: 'at their old name',
  conflict: 'at both names: both are left',
  nameless: 'could have no name in the other pattern: left',
  unknown: 'begin like an old name and are of no entry: left',
  migrated: 'at their new name',
  moved: 'moved',
  dropped: 'stood at both names: the old value was deleted',
  gone: 'gone before their turn came: expired, deleted or moved by a reader',
  note: 'notes on a cluster of keys that moved to another slot: deleted by run at phase 3',
  'without-ttl': 'without the time to live that is declared',
  undecodable: 'not to be read by the entry’s codec',
  decoded: 'read by the entry’s codec, as a sample',
}

const action = { enum: ['plan', 'run', 'verify', 'rollback'] } as const
const states = Object.keys(stateWords) as MigrateState[]
const described = (state: MigrateState) =>
  ({ type: 'integer', minimum: 1, description: stateWords[state] }) as const
const counts = {
  type: 'object',
  description: 'keys by what was found of them or became of them; what is not named is 0',
  properties: {
    waiting: described('waiting'),
    conflict: described('conflict'),
    nameless: described('nameless'),
    unknown: described('unknown'),
    migrated: described('migrated'),
    moved: described('moved'),
    dropped: described('dropped'),
    gone: described('gone'),
    note: described('note'),
    'without-ttl': described('without-ttl'),
    undecodable: described('undecodable'),
    decoded: described('decoded'),
  } satisfies Record<MigrateState, object>,
  additionalProperties: false,
} as const

/** What a line of `keyspec migrate --json` is. */
export const migrateSchema = {
  oneOf: [
    {
      description: 'one old name of an entry, and what was found or done',
      type: 'object',
      properties: {
        record: { const: 'rule' },
        action,
        entry: { type: 'string' },
        program: {
          type: ['string', 'null'],
          description: 'the program that owns the keys, where it is another',
        },
        from: { type: 'string', description: 'the old pattern, prefixes included' },
        to: { type: 'string', description: 'the new pattern, prefixes included' },
        counts,
        bytes: { type: 'integer', minimum: 0, description: 'with plan: memory of the keys that wait' },
        samples: {
          type: 'object',
          description: 'up to 5 keys of each state that somebody may want to look at',
          propertyNames: { enum: states },
          additionalProperties: { type: 'array', items: { type: 'string' }, maxItems: 5 },
        },
      },
      required: ['record', 'action', 'entry', 'program', 'from', 'to', 'counts', 'bytes', 'samples'],
      additionalProperties: false,
    },
    {
      description: 'the last line',
      type: 'object',
      properties: {
        record: { const: 'total' },
        action,
        counts,
        complete: { type: 'boolean', description: 'false where it was stopped' },
        findings: { type: 'boolean', description: 'whether something is left to do or to look at' },
      },
      required: ['record', 'action', 'counts', 'complete', 'findings'],
      additionalProperties: false,
    },
  ],
} as const
