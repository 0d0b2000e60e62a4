import type { FromSchema, JSONSchema } from 'json-schema-to-ts'
import type { Connection } from 'keyspec'
import type { Config } from './config/config.ts'
import type { ExitCode } from './failure.ts'
import type { Log } from './terminal/log.ts'
import type { Output } from './terminal/output.ts'

/** One option of a command: `--under PREFIX`. */
export interface Option {
  readonly about: string
  /** What stands behind it, in the help: `PREFIX`. A flag has none. */
  readonly value?: string
  /** It may be given several times, and comes as a list. */
  readonly many?: boolean
  /** Its value is a number. */
  readonly number?: boolean
  /** Its number is above 0, and at most this. */
  readonly most?: number
  /** One letter: `y` for `-y`. */
  readonly short?: string
}

/** The options of a command, by their names: `{ 'max-load': { … } }` is `--max-load`. */
export type Options = { readonly [name: string]: Option }

/** What a command was given: `options['max-load']` is a number or absent. */
export type Given<O extends Options> = {
  readonly [N in keyof O]?: O[N] extends { readonly value: string }
    ? O[N] extends { readonly many: true }
      ? readonly string[]
      : O[N] extends { readonly number: true }
        ? number
        : string
    : boolean
}

/** What a record of this JSON Schema is. */
export type RecordOf<S> = S extends JSONSchema ? Accepted<FromSchema<S>> : object

/** What may be given for it: lists that are only read, and `undefined` for what may be absent. */
type Accepted<T> = T extends readonly (infer I)[]
  ? readonly Accepted<I>[]
  : T extends object
    ? { readonly [N in keyof T]: {} extends Pick<T, N> ? Accepted<T[N]> | undefined : Accepted<T[N]> }
    : T

/** A verb of the command line: what it takes, what it prints, and what it does. */
export interface Command<O extends Options = Options, S extends JSONSchema = any> {
  /** What stands behind the verb, in the help: `KEY`, `[FILE]`. */
  readonly operands?: string
  readonly options: O
  /** Whole command lines, and what each is for. */
  readonly examples: readonly (readonly [line: string, about: string])[]
  /** JSON Schema of what `--json` prints, of each line or of the one document: `out.record` takes nothing else. */
  readonly json: { readonly form: 'lines' | 'document'; readonly schema: S }
  run(call: Call<O, RecordOf<S>>): Promise<ExitCode>
}

/** One call of a command: what it was given, and what it may use. */
export interface Call<O extends Options = Options, R = never> {
  readonly options: Given<O>
  readonly operands: readonly string[]
  /** Standard output: data. */
  readonly out: Output<R>
  /** Standard error: messages and progress. */
  readonly log: Log
  /** Aborted by Ctrl-C: a command stops where it can be resumed, and says how. */
  readonly signal: AbortSignal
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The configuration with the flags laid over it. */
  config(): Promise<Settings>
  /** A connection to the configured server, closed when the command ends. One node of a cluster is refused. */
  connect(): Promise<Connection>
  /** The same, also to one node of a cluster: for what does not look at keys. */
  connectAnywhere(): Promise<Connection>
  /** The same for a few commands: made sooner, and gone once it is lost. */
  connectBriefly(): Promise<Connection>
  /** A connection to another server, by its URL; with `cluster` that of one of its nodes, as `flag` says. */
  connectTo(other: {
    readonly url: string
    readonly cluster: boolean | undefined
    readonly flag: string
  }): Promise<Connection>
  /** Whether somebody sits at a terminal who can be asked. */
  readonly attended: boolean
  /** Whether `--yes` was given or somebody typed the word; never asks where nobody is there to answer. */
  confirm(question: string, word: string): Promise<boolean>
}

/** The configuration as a command reads it. */
export interface Settings extends Config {
  readonly prefix: string
  /** Where it came from, for messages and relative paths: the folder of the file, or the working folder. */
  readonly folder: string
}

/** Keeps the names and types of a command's options. */
export function command<const O extends Options, const S extends JSONSchema>(
  described: Command<O, S>,
): Command<O, S> {
  return described
}
