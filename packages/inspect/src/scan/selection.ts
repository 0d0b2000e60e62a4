import { type Connection, KeyError, type Schema, SchemaError } from 'keyspec'
import { keyWriter, ownedAnywhere, type OwnedPattern } from 'keyspec/extend'
import { escapeKey } from '../match/key-name.ts'
import { matcher } from '../match/matcher.ts'
import { isRegister } from '../match/own-key.ts'
import { type Fact, inspectKeys, type KeyFacts, scanKeys, type ScanOptions } from './scan.ts'

/** Which keys a tool is to look at: those of entries, those under a prefix, those of a person, or all. */
export interface SelectionOptions {
  /** The keyspace's prefix: keys outside it are never selected. */
  readonly prefix?: string | undefined
  /** Paths of entries, `tutor.session`; `tutor` stands for all that is mounted there. */
  readonly entries?: readonly string[] | undefined
  /** The text that keys begin with, after the keyspace's prefix. Keys of no entry are selected too. */
  readonly under?: string | undefined
  /** Values of placeholders, `{ userId: '42' }`: every entry that knows them all. */
  readonly subject?: Readonly<Record<string, string>> | undefined
}

/** Chosen keys of a server; see `selectKeys`. */
export interface Selection {
  /** In words, for previews: `entry session`. */
  readonly title: string
  /** The patterns it may find; empty where it goes by prefix alone. */
  readonly patterns: readonly OwnedPattern[]
  /** Keys whose whole name is known: they are looked up, and nothing is scanned for them. */
  readonly built: readonly BuiltKey[]
  /** What all others begin with, or `undefined` where there are no others: nothing is scanned. */
  readonly scanned: string | undefined
  /** Whether a key that begins with `scanned` is among the chosen; `undefined` for one whose bytes are no text. */
  has(name: string | undefined): boolean
  /** Whose a key is. */
  owner(name: string | undefined): OwnedPattern | undefined
}

/** A key made from values rather than found. */
export interface BuiltKey {
  readonly name: string
  readonly owned: OwnedPattern
}

/** A key that was found, and the pattern that owns it. */
export interface FoundKey extends KeyFacts {
  /** `undefined` where no entry owns it. */
  readonly owned: OwnedPattern | undefined
}

/**
 * Chooses keys of a schema. Entries, prefix and subject narrow one another; given none of them, all keys under the
 * keyspace's prefix are chosen. A `SchemaError` says what there is instead where a name matches nothing.
 */
export function selectKeys(schema: Schema, options: SelectionOptions = {}): Selection {
  const { prefix = '', under, entries, subject } = options
  const all = [...ownedAnywhere(schema, prefix)]
  const { match } = matcher(schema, prefix)
  let patterns = all
  if (entries !== undefined) patterns = ofEntries(all, entries)
  if (subject !== undefined) patterns = ofSubject(patterns, subject)
  const start = prefix + (under ?? '')
  const byPattern = entries !== undefined || subject !== undefined
  const chosen = new Set<OwnedPattern['pattern']['text']>(patterns.map(({ pattern }) => pattern.text))
  const values = subject === undefined ? undefined : Object.entries(subject)

  const has = (name: string | undefined): boolean => {
    // A key without a text is found by its prefix alone, which the server compares byte by byte.
    if (!byPattern)
      return (
        name === undefined || (name.startsWith(start) && !(isRegister(name) && match(name) === undefined))
      )
    const owner = name === undefined || !name.startsWith(start) ? undefined : match(name)
    if (owner === undefined || !chosen.has(owner.pattern.text)) return false
    if (values === undefined) return true
    const texts = owner.pattern.parse(name!)!
    return values.every(([param, value]) => texts[owner.pattern.params.indexOf(param)] === value)
  }
  const known = byPattern
    ? patterns.filter(({ pattern }) => pattern.params.every((param) => subject?.[param] !== undefined))
    : []
  const built = known.flatMap((each) => named(each, subject ?? {}))
  const rest = byPattern ? patterns.filter((each) => !known.includes(each)) : undefined
  return {
    title: titleOf(options),
    patterns: byPattern ? patterns : [],
    built: built.filter(({ name }) => name.startsWith(start)),
    scanned:
      rest === undefined ? start : rest.length === 0 ? undefined : longer(start, commonHead(rest, subject)),
    has,
    owner: (name) => (name === undefined ? undefined : match(name)),
  }
}

/** How chosen keys are found, and what is asked of each. */
export interface FindOptions extends Omit<ScanOptions, 'prefix' | 'sample'> {
  readonly facts?: readonly Fact[]
}

/** The chosen keys that are there, in batches: first those whose names are known, then what a walk finds. */
export async function* findKeys(
  selection: Selection,
  connection: Connection,
  options: FindOptions = {},
): AsyncGenerator<readonly FoundKey[]> {
  const owners = new Map(selection.built.map(({ name, owned }) => [name, owned]))
  const names = [...owners.keys()]
  for (let at = 0; at < names.length; at += BUILT_AT_ONCE) {
    options.signal?.throwIfAborted()
    const keys = names.slice(at, at + BUILT_AT_ONCE).map((name) => Buffer.from(name))
    const seen = await inspectKeys(connection, keys, options.facts)
    if (seen.length > 0) yield seen.map((key) => ({ ...key, owned: owners.get(key.name!) }))
  }
  if (selection.scanned === undefined) return
  for await (const batch of scanKeys(connection, { ...options, prefix: selection.scanned })) {
    const found: FoundKey[] = []
    for (const key of batch) {
      if (!selection.has(key.name) || (owners.size > 0 && owners.has(key.name!))) continue
      // The walk has made it for us, and a copy of each would cost more than all else here.
      found.push(Object.assign(key, { owned: selection.owner(key.name) }))
    }
    if (found.length > 0) yield found
  }
}

const BUILT_AT_ONCE = 100

function ofEntries(all: readonly OwnedPattern[], entries: readonly string[]): OwnedPattern[] {
  const isOf = (path: string, entry: string) => path === entry || path.startsWith(`${entry}.`)
  for (const entry of entries) {
    if (all.some((each) => isOf(each.entry, entry))) continue
    const known = [...new Set(all.map((each) => each.entry))].sort()
    throw new SchemaError(`the schema has no entry "${entry}": there are ${known.join(', ')}`)
  }
  return all.filter((each) => entries.some((entry) => isOf(each.entry, entry)))
}

function ofSubject(all: readonly OwnedPattern[], subject: Readonly<Record<string, string>>): OwnedPattern[] {
  const wanted = Object.keys(subject)
  const found = all.filter(({ pattern }) => wanted.every((param) => pattern.params.includes(param)))
  if (found.length === 0) {
    const known = [...new Set(all.flatMap(({ pattern }) => pattern.params))].sort()
    throw new SchemaError(
      `no entry has the placeholder${wanted.length === 1 ? '' : 's'} ${wanted.map((name) => `<${name}>`).join(' and ')}: ` +
        `there are ${known.map((name) => `<${name}>`).join(', ')}`,
    )
  }
  return found
}

/** The one key of a pattern whose placeholders are all known; none where a value could not stand there. */
function named(each: OwnedPattern, values: Readonly<Record<string, string>>): BuiltKey[] {
  try {
    // Values come as they stand in keys, so no param codec writes them.
    return [{ name: keyWriter(each.pattern, {})(values), owned: each }]
  } catch (error) {
    if (error instanceof KeyError) return []
    throw error
  }
}

/** What the keys of all these patterns begin with, as far as the known values reach. */
function commonHead(
  patterns: readonly OwnedPattern[],
  values: Readonly<Record<string, string>> = {},
): string {
  const heads = patterns.map(({ pattern }) => {
    let head = ''
    for (const part of pattern.parts) {
      const text = 'literal' in part ? part.literal : values[part.name]
      if (text === undefined) break
      head += text
    }
    return head
  })
  return heads.reduce((common, head) => {
    let length = 0
    while (length < common.length && common[length] === head[length]) length += 1
    return common.slice(0, length)
  })
}

/** The longer of two beginnings; where they part, no key can have both, and the given one decides. */
function longer(start: string, head: string): string {
  return head.startsWith(start) ? head : start
}

function titleOf({ prefix = '', entries, under, subject }: SelectionOptions): string {
  const parts = [
    ...(entries === undefined ? [] : [`entry ${entries.join(', ')}`]),
    ...(subject === undefined
      ? []
      : [
          Object.entries(subject)
            .map(([name, value]) => `<${name}> = ${escapeKey(value)}`)
            .join(', '),
        ]),
    ...(under === undefined ? [] : [`keys under "${escapeKey(prefix + under)}"`]),
  ]
  if (parts.length > 0) return parts.join(', ')
  return prefix === '' ? 'all keys' : `all keys under "${escapeKey(prefix)}"`
}
