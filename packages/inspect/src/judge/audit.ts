import { operation, type Operation, Progress, type Step, type Steps } from '../operation/operation.ts'
import { type Connection, type Schema, ServerError } from 'keyspec'
import { type OwnedPattern, patternsOf as ownedBy } from 'keyspec/extend'
import { type DecodedPart, failureIn, mayFail, withoutStacks } from './decoded.ts'
import type { Eviction } from '../scan/eviction.ts'
import { type Fault, faultsOf, whereUndecodable } from './fault.ts'
import { FaultGroup, type Finding, joinStrays, noteStray, type Stray, strayFinding } from './finding.ts'
import { guess, Guesses } from '../match/guess.ts'
import { matcher } from '../match/matcher.ts'
import { keptForRename } from '../match/own-key.ts'
import { namesOf } from '../match/rename-rules.ts'
import type { StoredValue } from '../scan/peek.ts'
import { countOf, isConnection, type KeySource, sourceOf } from '../scan/source.ts'
import { throttle } from '../scan/throttle.ts'
import { underTwoNames } from './two-names.ts'
import type { KeyFacts, ScanOptions } from '../scan/scan.ts'

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
  const { prefix = '', values = true, each = false } = options
  const { match } = matcher(schema, prefix)
  const names = namesOf(schema, prefix)
  const all = [...ownedBy(schema, prefix)]
  const hasBudget = all.some(({ spec }) => spec.budgetBytes !== undefined)
  const fallible = new Set(
    all
      .filter(({ spec }) => values && spec.external === undefined && mayFail(spec.codec))
      .map(({ spec }) => spec),
  )
  const source = sourceOf(from)
  const eviction = await source.eviction()
  const read = valueReader()
  const rest = throttle(options.maxLoad, options.signal)
  const groups = new Map<string, FaultGroup>()
  const strays = new Guesses<Stray>(() => ({ count: 0, samples: [] }), joinStrays)
  const prefixBytes = Buffer.byteLength(prefix)
  const sums = { keys: 0, decoded: 0, notDecoded: 0 }
  const result = (): AuditResult => ({ ...sums, eviction })
  const progress = new Progress(result)
  const atFirst = isConnection(from) ? await totalOf(source, options) : undefined
  const total = async () => (isConnection(from) ? atFirst : totalOf(source, options))

  const note = (fault: Fault, key: Buffer): Finding | undefined => {
    const isOfEntry = fault.code === 'evictable'
    const alone = each && !isOfEntry
    if (alone) {
      const group = new FaultGroup(fault)
      group.add(key, fault.amount)
      return group.finding()
    }
    const id = `${fault.code}\0${fault.owned.entry}\0${isOfEntry ? '' : fault.owned.pattern.text}\0${fault.detail ?? ''}`
    let group = groups.get(id)
    if (group === undefined) groups.set(id, (group = new FaultGroup(fault)))
    group.add(key, fault.amount)
    return undefined
  }

  const judged = (values: readonly StoredValue[], of: readonly Known[], from: number): Finding[] =>
    withoutStacks(() => {
      const findings: Finding[] = []
      for (const [index, value] of values.entries()) {
        const { seen, owned } = of[from + index]!
        // It has gone, or become something else, since it was seen.
        if (value.type !== seen.type) continue
        sums.decoded += 1
        if (value.omitted > 0) sums.notDecoded += 1
        const failed = read(owned, value)
        if (failed === undefined) continue
        const finding = note({ code: 'undecodable', owned, detail: whereUndecodable(failed) }, seen.key)
        if (finding !== undefined) findings.push(finding)
      }
      return findings
    })

  const settled = async ({ known, answers, first }: Reading): Promise<Finding[]> => {
    const findings: Finding[] = []
    let at = 0
    for (let next = await first; next.done !== true; next = await answers.next()) {
      findings.push(...judged(next.value, known, at))
      at += next.value.length
    }
    return findings
  }

  let reading: Reading | undefined
  const facts = ['ttl', ...(hasBudget ? (['memory'] as const) : [])] as const
  for await (const { keys: batch } of source.steps({ ...options, prefix, facts })) {
    const findings: Finding[] = []
    const readable: Known[] = []
    const old: Known[] = []
    for (const seen of batch) {
      sums.keys += 1
      const owned = seen.name === undefined ? undefined : match(seen.name)
      if (owned === undefined) {
        const rest = seen.key.subarray(prefixBytes)
        if (keptForRename(rest) !== undefined) continue
        if (each) {
          const stray: Stray = { count: 0, samples: [] }
          noteStray(stray, seen.key)
          findings.push(strayFinding(prefix, guess(rest), stray))
        } else noteStray(strays.at(rest), seen.key)
        continue
      }
      let sound = true
      for (const fault of faultsOf(seen, owned, eviction)) {
        sound &&= fault.code !== 'wrong-type' && fault.code !== 'external-shape'
        const finding = note(fault, seen.key)
        if (finding !== undefined) findings.push(finding)
      }
      if (owned.legacy && isConnection(from)) old.push({ seen, owned })
      const { compare } = owned.spec
      if (sound && compare !== undefined && !owned.legacy && isConnection(from)) {
        const { text, parse } = owned.pattern
        const before = text.slice(0, text.length - owned.spec.pattern.text.length)
        for (const { detail, amount } of await rest(() => compare(from, parse(seen.name!)!, before))) {
          const finding = note({ code: 'inconsistent', owned, detail, amount }, seen.key)
          if (finding !== undefined) findings.push(finding)
        }
      }
      if (sound && fallible.has(owned.spec)) readable.push({ seen, owned })
    }
    if (old.length > 0 && isConnection(from))
      for (const { seen, owned } of await rest(() => underTwoNames(from, old, names))) {
        const finding = note({ code: 'two-names', owned }, seen.key)
        if (finding !== undefined) findings.push(finding)
      }
    const before = reading
    reading = readable.length === 0 ? undefined : asked(source, readable, options)
    if (before !== undefined) findings.push(...(await settled(before)))
    // Where all of the server's time may be taken, it reads values while the next step is looked at.
    if (reading !== undefined && options.maxLoad !== 1) {
      findings.push(...(await settled(reading)))
      reading = undefined
    }
    yield progress.step(sums.keys, await total(), { findings })
  }
  const late = reading === undefined ? [] : await settled(reading)
  const found = [...groups.values()].map((group) => group.finding())
  for (const [pattern, stray] of strays) found.push(strayFinding(prefix, pattern, stray))
  yield progress.step(sums.keys, await total(), { findings: [...late, ...found.sort(worstFirst)] })
  return result()
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

interface Known {
  readonly seen: KeyFacts
  readonly owned: OwnedPattern
}

/** Values that are being read. */
interface Reading {
  readonly known: readonly Known[]
  readonly answers: AsyncIterator<readonly StoredValue[]>
  readonly first: Promise<IteratorResult<readonly StoredValue[]>>
}

function asked(source: KeySource, known: readonly Known[], options: AuditOptions): Reading {
  const keys = known.map(({ seen }) => seen)
  const answers = source.values(keys, options)[Symbol.asyncIterator]()
  const first = answers.next()
  // Whoever has seen enough never asks what became of it.
  first.catch(() => undefined)
  return { known, answers, first }
}

/** Decodes values with the codecs of their entries; answers for each what could not be read. */
function valueReader() {
  const readers = new Map<OwnedPattern, (value: StoredValue) => DecodedPart | undefined>()
  return (owned: OwnedPattern, value: StoredValue): DecodedPart | undefined => {
    let reader = readers.get(owned)
    if (reader === undefined) readers.set(owned, (reader = failureIn(owned.spec.codec)))
    return reader(value)
  }
}

function worstFirst(a: Finding, b: Finding): number {
  if (a.severity !== b.severity) return a.severity === 'error' ? -1 : 1
  return b.count - a.count || (a.pattern ?? '').localeCompare(b.pattern ?? '')
}
