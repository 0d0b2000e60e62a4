import { operation, type Operation, Progress, type Step, type Steps } from '../operation/operation.ts'
import { type Connection, type KeySpec, type Schema, ServerError } from 'keyspec'
import { type OwnedPattern, patternsOf } from 'keyspec/extend'
import { mayFail } from './decoded.ts'
import type { Eviction } from '../scan/eviction.ts'
import { faultsOf } from './fault.ts'
import type { Finding } from './finding.ts'
import { matcher } from '../match/matcher.ts'
import { keptForRename } from '../match/own-key.ts'
import { namesOf } from '../match/rename-rules.ts'
import { countOf, isConnection, type KeySource, sourceOf } from '../scan/source.ts'
import { throttle } from '../scan/throttle.ts'
import { underTwoNames } from './two-names.ts'
import type { ScanOptions } from '../scan/scan.ts'
import { Notes } from './notes.ts'
import { type OwnedKey, ValueReading } from './value-reading.ts'

/** How an audit goes. */
export interface AuditOptions extends Omit<ScanOptions, 'facts' | 'prefix'> {
  /** The keyspace's prefix: keys outside it are not looked at. */
  readonly prefix?: string | undefined
  /** Whether values are decoded; unless told otherwise they are. */
  readonly values?: boolean | undefined
  /** How many bytes of a value are read at the most; 1 MB unless told. What is larger is counted as not decoded. */
  readonly limitBytes?: number | undefined
  /** A finding for each key as it is found, rather than one for all that are alike in the last step. */
  readonly each?: boolean | undefined
}

/** Some more keys that were looked at. */
export interface AuditStep extends Step<AuditResult> {
  /** What was found: with `each` in these keys, else nothing before the last step. */
  readonly findings: readonly Finding[]
}

/** What an audit has looked at. */
export interface AuditResult {
  readonly keys: number
  /** Keys whose values were read, or the beginnings of them. */
  readonly decoded: number
  /** Keys whose values, or elements of them, were too large to be read. */
  readonly notDecoded: number
  /** What the server evicts; `undefined` where it would not say. */
  readonly eviction: Eviction | undefined
}

/**
 * Holds every key under the keyspace's prefix against the schema, in one walk. What it finds is in its steps, worst first.
 * Findings hold no values. Memory is bounded, however many keys there are. It counts the keys that were looked at, of all
 * keys of the server, which it asks for where there is no prefix.
 *
 * Of a collection the first elements are decoded, 10 or so. Reading a value counts as a use of its key for the server. Values
 * whose codecs read whatever is stored (text, bytes) are not read: none of them could be wrong.
 * Keys that must agree with others of their entry (`compare`) are held against them, and a key with an old name is looked for
 * under its newer ones, if a server is asked.
 * Keys may come from another source than a connection; see `KeySource`.
 */
export function audit(
  schema: Schema,
  from: Connection | KeySource,
  options: AuditOptions = {},
): Operation<AuditResult, AuditStep> {
  return operation(() => audited(schema, from, options))
}

async function* audited(
  schema: Schema,
  from: Connection | KeySource,
  options: AuditOptions,
): Steps<AuditResult, AuditStep> {
  const { prefix = '', each = false } = options
  const { match } = matcher(schema, prefix)
  const patterns = [...patternsOf(schema, prefix)]
  const hasBudget = patterns.some(({ spec }) => spec.budgetBytes !== undefined)
  const fallible = fallibleOf(patterns, options)
  const source = sourceOf(from)
  const eviction = await source.eviction()
  const notes = new Notes(prefix, each)
  const reading = new ValueReading(source, options, notes)
  const beside = isConnection(from) ? besides(schema, from, options, notes) : undefined
  const prefixBytes = Buffer.byteLength(prefix)
  let keys = 0
  const result = (): AuditResult => {
    const { decoded, notDecoded } = reading
    return { keys, decoded, notDecoded, eviction }
  }
  const progress = new Progress(result)
  const atFirst = isConnection(from) ? await totalOf(source, options) : undefined
  const total = async () => (isConnection(from) ? atFirst : totalOf(source, options))

  const facts = ['ttl', ...(hasBudget ? (['memory'] as const) : [])] as const
  for await (const { keys: batch } of source.steps({ ...options, prefix, facts })) {
    const findings: Finding[] = []
    const sound: OwnedKey[] = []
    const old: OwnedKey[] = []
    for (const seen of batch) {
      keys += 1
      const owned = seen.name === undefined ? undefined : match(seen.name)
      if (owned === undefined) {
        const rest = seen.key.subarray(prefixBytes)
        if (keptForRename(rest) === undefined) findings.push(...notes.stray(seen.key, rest))
        continue
      }
      let isSound = true
      for (const fault of faultsOf(seen, owned, eviction)) {
        isSound &&= fault.code !== 'wrong-type' && fault.code !== 'external-shape'
        findings.push(...notes.fault(fault, seen.key))
      }
      if (owned.legacy) old.push({ seen, owned })
      if (isSound) sound.push({ seen, owned })
    }
    if (beside !== undefined) findings.push(...(await beside(sound, old)))
    findings.push(...(await reading.step(sound.filter(({ owned }) => fallible.has(owned.spec)))))
    yield progress.step(keys, await total(), { findings })
  }
  const late = await reading.end()
  yield progress.step(keys, await total(), { findings: [...late, ...notes.rest()] })
  return result()
}

/** Returns the keys of a schema whose values are read: those that could be wrong. */
function fallibleOf(
  patterns: readonly OwnedPattern[],
  { values = true }: AuditOptions,
): ReadonlySet<KeySpec> {
  const isRead = ({ spec }: OwnedPattern) => values && spec.external === undefined && mayFail(spec.codec)
  return new Set(patterns.filter(isRead).map(({ spec }) => spec))
}

/** Returns a function that holds sound keys against others of their entry, and old names against the newer ones. */
function besides(schema: Schema, connection: Connection, options: AuditOptions, notes: Notes) {
  const names = namesOf(schema, options.prefix ?? '')
  const rest = throttle(options.maxLoad, options.signal)
  return async (sound: readonly OwnedKey[], old: readonly OwnedKey[]): Promise<Finding[]> => {
    const findings: Finding[] = []
    for (const { seen, owned } of sound) {
      const { compare } = owned.spec
      if (compare === undefined || owned.legacy) continue
      const { text, parse } = owned.pattern
      const before = text.slice(0, text.length - owned.spec.pattern.text.length)
      for (const { detail, amount } of await rest(() => compare(connection, parse(seen.name!)!, before)))
        findings.push(...notes.fault({ code: 'inconsistent', owned, detail, amount }, seen.key))
    }
    if (old.length > 0)
      for (const { seen, owned } of await rest(() => underTwoNames(connection, old, names)))
        findings.push(...notes.fault({ code: 'two-names', owned }, seen.key))
    return findings
  }
}

/** Returns how many keys there are to look at; `undefined` where that is unknown, or the user may not ask. */
async function totalOf(
  source: KeySource,
  { prefix = '', sample = Infinity }: AuditOptions,
): Promise<number | undefined> {
  if (prefix !== '') return undefined
  try {
    const all = await countOf(source)
    return all === undefined ? undefined : Math.min(all, sample)
  } catch (error) {
    if (error instanceof ServerError) return undefined
    throw error
  }
}
