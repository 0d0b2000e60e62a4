import type { SelectionOptions } from '@keyspec/inspect'
import type { Given, Options, Settings } from './command.ts'
import { misused } from './failure.ts'

/** Every command takes these. */
export const general = {
  json: { about: 'print JSON instead of text' },
  'json-schema': { about: 'print the JSON Schema of what --json prints, and do nothing' },
  'no-color': { about: 'print no colours, as NO_COLOR does' },
  help: { about: 'show this help', short: 'h' },
} as const satisfies Options

/** Where the schema comes from. */
export const schemaOptions = {
  config: { value: 'FILE', about: 'the configuration; else keyspec.config.ts, here or in a folder above' },
  schema: { value: 'FILE[#EXPORT]', about: 'the module that exports the schema' },
  prefix: { value: 'TEXT', about: 'what stands before every key of the keyspace' },
} as const satisfies Options

/** Where the server is, and how kindly to treat it. */
export const serverOptions = {
  ...schemaOptions,
  url: {
    value: 'URL',
    about: 'the server: redis://, rediss://, unix://; else REDIS_URL, else the configuration',
  },
  cluster: { about: 'the URL is of a node of a cluster: visit every master' },
  sentinel: { value: 'NAME', about: 'the URL is of a Sentinel: ask it for the master of this name' },
  'max-load': {
    value: 'FRACTION',
    number: true,
    most: 1,
    about: 'the largest part of the server’s time to take, up to 1 (0.1 unless told)',
  },
} as const satisfies Options

/** Which keys. */
export const selectionOptions = {
  entry: { value: 'NAME', many: true, about: 'keys of this entry, or of all that is mounted there' },
  under: { value: 'TEXT', about: 'keys that begin with this text, after the keyspace’s prefix' },
  subject: {
    value: 'NAME=VALUE',
    many: true,
    about: 'keys of whoever a placeholder stands for: userId=42, in every entry that knows it',
  },
} as const satisfies Options

/** For what destroys. */
export const confirmOptions = {
  yes: { short: 'y', about: 'do it without asking' },
} as const satisfies Options

/** The selection that was asked for. */
export function selectionOf(options: Given<typeof selectionOptions>, { prefix }: Settings): SelectionOptions {
  return { prefix, entries: options.entry, under: options.under, subject: subjectOf(options.subject) }
}

function subjectOf(pairs: readonly string[] | undefined): Record<string, string> | undefined {
  if (pairs === undefined) return undefined
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1 || at === pair.length - 1)
        throw misused(
          `--subject takes a placeholder and its value, as in userId=42, not ${JSON.stringify(pair)}`,
        )
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}
