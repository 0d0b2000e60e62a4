import type { Command } from './command.ts'

/** A command by its name: what it is for, and where its code is, loaded only when it is called. */
export interface Listed {
  readonly group: 'Declaration' | 'Look' | 'Change' | 'Move'
  readonly load: () => Promise<Command<any>>
  readonly about: string
}

/** Every command, in the order of the help. */
export const commands: { readonly [name: string]: Listed } = {
  check: {
    group: 'Declaration',
    about: 'Lint the schema, and say what a change of it means for stored keys and their readers',
    load: async () => (await import('./commands/check.ts')).check,
  },
  manifest: {
    group: 'Declaration',
    about: 'The schema as JSON: the artifact that other programs and later versions read',
    load: async () => (await import('./commands/manifest.ts')).manifest,
  },
  docs: {
    group: 'Declaration',
    about: 'A page of Markdown about every key, kept fresh',
    load: async () => (await import('./commands/docs.ts')).docs,
  },
  audit: {
    group: 'Look',
    about: 'Every key of the server against the schema',
    load: async () => (await import('./commands/audit.ts')).audit,
  },
  stats: {
    group: 'Look',
    about: 'Keys and memory by entry or by prefix, counted or estimated',
    load: async () => (await import('./commands/stats.ts')).stats,
  },
  doctor: {
    group: 'Look',
    about: 'The server against the declaration: memory, eviction, persistence, access, health',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  explain: {
    group: 'Look',
    about: 'Whose a key is, and all that is known of it',
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  erase: {
    group: 'Change',
    about: 'Delete keys by entry, prefix or person, with a preview',
    load: async () => (await import('./commands/erase.ts')).erase,
  },
  cleanup: {
    group: 'Change',
    about: 'Find what is past its policy, and fix it',
    load: async () => (await import('./commands/cleanup.ts')).cleanup,
  },
  migrate: {
    group: 'Change',
    about: 'Move keys from their old names to the new ones, and back',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  export: {
    group: 'Move',
    about: 'Write keys to one file, by entry, prefix or person',
    load: async () => (await import('./commands/export.ts')).exportCommand,
  },
  import: {
    group: 'Move',
    about: 'Write the keys of such a file into a server, after a look at both',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
  copy: {
    group: 'Move',
    about: 'Copy keys to another server, with nothing between, after a look at both',
    load: async () => (await import('./commands/copy.ts')).copy,
  },
  diff: {
    group: 'Move',
    about: 'Keys that two servers, or a server and an export, do not have alike',
    load: async () => (await import('./commands/diff.ts')).diff,
  },
}
