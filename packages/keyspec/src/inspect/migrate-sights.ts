import type { Connection } from '../connection/connection.ts'
import { SchemaError } from '../errors.ts'
import type { Pattern } from '../pattern.ts'
import type { Schema } from '../schema.ts'
import { type Rule, rulesOf } from './migrate-rules.ts'
import { select, type SelectionOptions } from './selection.ts'
import { matcher } from './matcher.ts'
import { type Fact, type SeenKey, walk, type WalkOptions } from './walk.ts'

/** Which keys of a migration: of entries, or those that begin with a text; all unless told. */
export interface MigrateSelection extends Pick<SelectionOptions, 'prefix' | 'entries' | 'under'> {
  /** Only this old pattern, as it was declared. */
  readonly was?: string | undefined
}

/** A key that a migration concerns, and where it stands. */
export type Sight =
  | (SeenKey & { readonly rule: Rule; readonly at: 'old' | 'new'; readonly name: string })
  /** Under what an old name begins with, but of no entry. */
  | (SeenKey & { readonly rule: Rule; readonly at: 'unknown' })

/** What of them is looked for. */
export interface SightOptions extends MigrateSelection, Omit<WalkOptions, 'prefix' | 'sample'> {
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

  const sight = (seen: SeenKey): Sight | undefined => {
    const owner = seen.name === undefined ? undefined : match(seen.name)
    if (owner !== undefined) {
      const at = owner.legacy ? 'old' : 'new'
      const rule = (owner.legacy ? byFrom : byTo).get(owner.pattern.text)
      return rule === undefined || (names !== 'both' && names !== at)
        ? undefined
        : { ...seen, name: seen.name!, rule, at }
    }
    if (names === 'new') return undefined
    const found = heads.find(({ head }) => seen.key.subarray(0, head.length).equals(head))
    return found === undefined ? undefined : { ...seen, rule: found.rule, at: 'unknown' }
  }

  const wanted = rules.flatMap(({ from, to }) =>
    names === 'old' ? [from] : names === 'new' ? [to] : [from, to],
  )
  const common = commonStart(wanted.map(headOf))
  const scanned = common.startsWith(start) ? common : start
  for await (const batch of walk(connection, { count: 250, ...options, prefix: scanned })) {
    const found = batch.flatMap((seen) => sight(seen) ?? [])
    if (found.length > 0) yield found
  }
}

/** The rules that are meant; a `SchemaError` says what there is where a name matches nothing. */
function chosen(schema: Schema, { prefix, entries, was, names }: SightOptions): Rule[] {
  const all = rulesOf(schema, prefix)
  const patterns = new Set(
    // For its errors, too.
    entries === undefined
      ? undefined
      : select(schema, { prefix, entries }).patterns.map(({ pattern }) => pattern.text),
  )
  const rules = all.filter(
    ({ from, declared }) =>
      (entries === undefined || patterns.has(from.text)) &&
      (was === undefined || was === declared.text || was === from.text),
  )
  if (rules.length === 0 && was !== undefined) {
    const known = all.map(({ declared }) => declared.text).join(', ')
    throw new SchemaError(`no entry chosen was "${was}": there are ${known === '' ? 'none' : known}`)
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
