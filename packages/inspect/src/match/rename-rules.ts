import type { KeySpec, Schema } from 'keyspec'
import { keyReader, nameIn, type Pattern, patternsOf } from 'keyspec/extend'

/** One old name of an entry's keys, and the name that they have now; prefixes included. */
export interface RenameRule {
  /** The entry's path: `tutor.session`. */
  readonly entry: string
  readonly spec: KeySpec
  readonly from: Pattern
  readonly to: Pattern
  /** `from` as it was declared, without prefixes. */
  readonly declared: Pattern
}

/** What stands before the patterns of a rule: the prefixes of the keyspace and of the schemas mounted in it. */
export function prefixOf({ from, declared }: RenameRule): string {
  return from.text.slice(0, from.text.length - declared.text.length)
}

/** Every old name that a schema declares, in the order declared. */
export function rulesOf(schema: Schema, prefix = ''): RenameRule[] {
  const rules: RenameRule[] = []
  let to: Pattern | undefined
  let at = 0
  // What an entry owns comes with its old names behind it.
  for (const { entry, spec, pattern, legacy } of patternsOf(schema, prefix)) {
    if (legacy) rules.push({ entry, spec, from: pattern, to: to!, declared: spec.renamedFrom[at++]! })
    else [to, at] = [pattern, 0]
  }
  return rules
}

/** The name that a key of one pattern has in another of the same entry; `undefined` where it could have none there. */
export function renamed({ params }: KeySpec, name: string, from: Pattern, to: Pattern): string | undefined {
  const texts = from.parse(name)
  if (texts === undefined) return undefined
  const found = nameIn(to, new Map(from.params.map((param, index) => [param, texts[index]!])))
  return found !== undefined && keyReader(to, params)(found) !== undefined ? found : undefined
}

/** All the names that a key of an entry may stand under: those it had before, and last the one it has now. */
export interface Names {
  of(name: string, pattern: Pattern): readonly string[]
}

/** Finds the other names of keys. */
export function namesOf(schema: Schema, prefix = ''): Names {
  const byFrom = new Map<string, RenameRule>()
  const byTo = new Map<string, RenameRule[]>()
  for (const rule of rulesOf(schema, prefix)) {
    byFrom.set(rule.from.text, rule)
    byTo.set(rule.to.text, [...(byTo.get(rule.to.text) ?? []), rule])
  }
  return {
    of(name, pattern) {
      const rule = byFrom.get(pattern.text)
      const now = rule === undefined ? name : renamed(rule.spec, name, rule.from, rule.to)
      if (now === undefined) return [name]
      const old = byTo.get((rule?.to ?? pattern).text) ?? []
      return [...old.flatMap(({ spec, from, to }) => renamed(spec, now, to, from) ?? []), now]
    },
  }
}
