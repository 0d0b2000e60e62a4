/** One parameter of a server's configuration. */
export interface Setting {
  readonly parameter: string
  readonly value: string
}

/**
 * What to do about something that a tool found, as data. A program that has the schema can do it itself; a command line
 * prints the line that does it.
 */
export type Remedy =
  /** Look at one key: `explain`. */
  | { readonly kind: 'explain'; readonly key: string }
  /** Declare the keys in the schema, or find out whose they are: `stats` by prefix `under` this text shows more. */
  | { readonly kind: 'declare'; readonly under: string }
  /** Give keys of the entry that have no TTL the one that is declared: `cleanupKeys` with `repair`. */
  | { readonly kind: 'give-ttl'; readonly entry: string }
  /** Lower a TTL that is above the declared one: `cleanupKeys` with `cap`. */
  | { readonly kind: 'cap-ttl'; readonly entry: string }
  /** Take the TTL of one key away, and find out who gives it one. */
  | { readonly kind: 'persist'; readonly key: string }
  /** Move the keys of the entry from their old names: `runMigration`. */
  | { readonly kind: 'migrate'; readonly entry: string }
  /** Stop the programs that know only the old name, then move with the value at the new name kept: `runMigration` with `keep: 'new'`. */
  | { readonly kind: 'stop-then-migrate'; readonly entry: string }
  /** Check that no key is left at an old name: `verifyMigration`. */
  | { readonly kind: 'verify-migration' }
  /** Look on the server for the evidence that a phase may follow: `withEvidence`. */
  | { readonly kind: 'look-for-evidence' }
  /** See which keys of the entry are the biggest: `stats`. */
  | { readonly kind: 'see-biggest'; readonly entry: string }
  /** Call the verb `repair()` of the entry, in a program that opens the schema. */
  | { readonly kind: 'repair'; readonly entry: string }
  /** Delete the keys of the entry while it is still declared: `erase`. */
  | { readonly kind: 'erase'; readonly entry: string }
  /** Compare the server's settings with the declaration: `doctor`. */
  | { readonly kind: 'examine' }
  /** Connect to the whole cluster instead of one node. */
  | { readonly kind: 'connect-cluster' }
  /** Set these parameters now, and in the configuration file. */
  | { readonly kind: 'configure'; readonly settings: readonly Setting[] }
  /** Give the user these ACL rules; `tool` needs them, where it is only one that does. */
  | {
      readonly kind: 'allow'
      readonly user: string | undefined
      readonly rules: readonly string[]
      readonly tool?: string
    }
  /** Send this Redis command, to the server itself or to the one at `to` (`host:port`). It changes no key. */
  | { readonly kind: 'send'; readonly command: readonly string[]; readonly to?: string }
  /** Let the slots of the cluster be checked, or assigned, by its own tool. */
  | { readonly kind: 'check-cluster' | 'fix-cluster' }
  /** Let the machine of the server set its clock by NTP. */
  | { readonly kind: 'set-clock' }
