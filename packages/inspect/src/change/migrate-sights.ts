import { type Connection, type Schema, SchemaError } from 'keyspec'
import type { Pattern } from 'keyspec/extend'
import { type RenameRule, rulesOf } from '../match/rename-rules.ts'
import { type SelectionOptions, selectKeys } from '../scan/selection.ts'
import { besides } from '../match/own-key.ts'
import { matcher } from '../match/matcher.ts'
import { type Fact, type KeyFacts, scanKeys, type ScanOptions } from '../scan/scan.ts'

/** Which keys of a migration: of entries, or those that begin with a text; all unless told. */
export interface MigrateSelection extends Pick<SelectionOptions, 'prefix' | 'entries' | 'under'> {
  /** Only this old pattern, as it was declared. */
  readonly renamedFrom?: string | undefined
}

/** A key that a migration concerns, and where it stands. */
export type Sight =
  | (KeyFacts & { readonly rule: RenameRule; readonly at: 'old' | 'new'; readonly name: string })
  /** Beside a name on a cluster: the note that a key moved to another slot. */
  | (KeyFacts & { readonly rule: RenameRule; readonly at: 'marker' })
  /** Under what an old name begins with, but of no entry. */
  | (KeyFacts & { readonly rule: RenameRule; readonly at: 'unknown' })

/** What of them is looked for. */
export interface SightOptions extends MigrateSelection, Omit<ScanOptions, 'prefix' | 'sample'> {
  readonly names: 'old' | 'new' | 'both'
  readonly facts?: readonly Fact[]
}

/** Every key that a migration concerns, found in one walk, in batches; a key at its new name comes once, with its first rule. */
export async function* sights(
  schema: Schema,
  connection: Connection,
  options: SightOptions,
): AsyncGenerator<readonly Sight[]> {
  const { prefix = '', under = '', names } = options
  const rules = chosen(schema, options)
  if (rules.length === 0) return
  const byFrom = new Map(rules.map((rule) => [rule.from.text, rule]))
  const byTo = new Map(rules.toReversed().map((rule) => [rule.to.text, rule]))
  const heads = rules
    .map((rule) => ({ rule, head: Buffer.from(headOf(rule.from)) }))
    // Of a pattern that begins with a placeholder, everything is under its name.
    .filter(({ head }) => head.length > Buffer.byteLength(prefix))
  const { match } = matcher(schema, prefix)
  const start = prefix + under

  const sight = (found: KeyFacts): Sight | undefined => {
    const beside = connection.cluster && found.name !== undefined ? besides(found.name) : undefined
    // What was set aside on its way to another slot counts as a key at its old name.
    const seen = beside === undefined ? found : { ...found, name: beside.of, key: Buffer.from(beside.of) }
    if (seen.name?.startsWith(start) === false) return undefined
    const owner = seen.name === undefined ? undefined : match(seen.name)
    if (owner !== undefined) {
      const at = owner.legacy ? 'old' : 'new'
      const rule = (owner.legacy ? byFrom : byTo).get(owner.pattern.text)
      // Programs at phases 1 and 2 still need the notes.
      if (beside?.is === 'marker')
        return rule?.spec.phase === 3 ? { ...found, rule, at: 'marker' } : undefined
      return rule === undefined || (names !== 'both' && names !== at)
        ? undefined
        : { ...seen, name: seen.name!, rule, at }
    }
    if (names === 'new') return undefined
    const near = heads.find(({ head }) => seen.key.subarray(0, head.length).equals(head))
    return near === undefined ? undefined : { ...seen, rule: near.rule, at: 'unknown' }
  }

  const wanted = rules.flatMap(({ from, to }) =>
    names === 'old' ? [from] : names === 'new' ? [to] : [from, to],
  )
  const common = commonStart(wanted.map(headOf))
  const scanned = connection.cluster ? prefix : common.startsWith(start) ? common : start
  for await (const batch of scanKeys(connection, { count: 250, ...options, prefix: scanned })) {
    const found = batch.flatMap((seen) => sight(seen) ?? [])
    if (found.length > 0) yield found
  }
}

/** The rules that are meant; a `SchemaError` says what there is where a name matches nothing. */
export function chosen(
  schema: Schema,
  { prefix, entries, renamedFrom, names }: MigrateSelection & Pick<SightOptions, 'names'>,
): RenameRule[] {
  const all = rulesOf(schema, prefix)
  const patterns = new Set(
    // For its errors, too.
    entries === undefined
      ? undefined
      : selectKeys(schema, { prefix, entries }).patterns.map(({ pattern }) => pattern.text),
  )
  const rules = all.filter(
    ({ from, declared }) =>
      (entries === undefined || patterns.has(from.text)) &&
      (renamedFrom === undefined || renamedFrom === declared.text || renamedFrom === from.text),
  )
  if (rules.length === 0 && renamedFrom !== undefined) {
    const known = all.map(({ declared }) => declared.text).join(', ')
    throw new SchemaError(`no entry chosen was "${renamedFrom}": there are ${known === '' ? 'none' : known}`)
  }
  if (names !== 'new') return rules
  // Back to one name only.
  const seen = new Set<string>()
  return rules.filter(({ to }) => !seen.has(to.text) && seen.add(to.text))
}

/** What the keys of a pattern begin with. */
function headOf({ parts: [first] }: Pattern): string {
  return first !== undefined && 'literal' in first ? first.literal : ''
}

function commonStart(heads: readonly string[]): string {
  return heads.reduce((common, head) => {
    let length = 0
    while (length < common.length && common[length] === head[length]) length += 1
    return common.slice(0, length)
  })
}
