import type { Connection, Schema } from 'keyspec'
import type { ServerPolicy } from '@keyspec/inspect'

/** What `keyspec.config.ts` says: the schema, and where its keys are. Flags and REDIS_URL win over it. */
export interface Config {
  readonly schema: Schema
  /** What stands before every key: `prod:`. */
  readonly prefix?: string
  /** The server: `redis://`, `rediss://` or `unix://`; with `cluster` or `sentinel` one of its nodes. */
  readonly url?: string
  /** Whether the URL is of a node of a cluster. */
  readonly cluster?: boolean
  /** The name of the master, where the URL is of a Sentinel. */
  readonly sentinel?: string | SentinelOptions
  /** A connection of your own making, over any client, instead of a URL. */
  readonly connect?: () => Promise<{ readonly connection: Connection; close(): Promise<void> }>
  /** The page that `keyspec docs` writes. */
  readonly docs?: DocsOptions
  /** What `keyspec check` is to accept. */
  readonly check?: CheckOptions
  /** How the server is to be set: `keyspec doctor` holds it to that. */
  readonly server?: ServerPolicy
}

/** What `keyspec check` is to accept. */
export interface CheckOptions {
  /** Pieces of names that look like others, and are meant to: `['num_pdf_attachment_done']`. */
  readonly alike?: readonly string[]
}

/** The page that `keyspec docs` writes. */
export interface DocsOptions {
  /** Its file, from the folder of the configuration: `README.md`. */
  readonly page?: string
  /** Its heading, where the file is all its own: `Keys` unless told. */
  readonly title?: string
  /** What is said first, in Markdown. */
  readonly intro?: string
}

/** A Sentinel set. */
export interface SentinelOptions {
  readonly name: string
  /** The password of the Sentinels themselves, where they have one. */
  readonly password?: string
}

/** Checks the types of a configuration: `export default defineConfig({ schema, url })`. */
export function defineConfig(config: Config): Config {
  return config
}
