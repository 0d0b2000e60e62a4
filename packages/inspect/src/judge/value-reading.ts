import type { OwnedPattern } from 'keyspec/extend'
import { type DecodedPart, failureIn, withoutStacks } from './decoded.ts'
import { whereUndecodable } from './fault.ts'
import type { Finding } from './finding.ts'
import type { Notes } from './notes.ts'
import type { StoredValue } from '../scan/peek.ts'
import type { KeyFacts, ScanOptions } from '../scan/scan.ts'
import type { KeySource } from '../scan/source.ts'

/** A key that an entry owns. */
export interface OwnedKey {
  readonly seen: KeyFacts
  readonly owned: OwnedPattern
}

/** Values that are being read. */
interface Reading {
  readonly keys: readonly OwnedKey[]
  readonly answers: AsyncIterator<readonly StoredValue[]>
  readonly first: Promise<IteratorResult<readonly StoredValue[]>>
}

/**
 * Reads values and decodes them with the codecs of their entries. Where all of the server's time may be taken, it reads
 * those of one step while the next step is looked at.
 */
export class ValueReading {
  /** Keys whose values were read, or the beginnings of them. */
  decoded = 0
  /** Keys whose values, or elements of them, were too large to be read. */
  notDecoded = 0
  readonly #source: KeySource
  readonly #options: ScanOptions
  readonly #notes: Notes
  readonly #readers = new Map<OwnedPattern, (value: StoredValue) => DecodedPart | undefined>()
  #ahead: Reading | undefined

  constructor(source: KeySource, options: ScanOptions, notes: Notes) {
    this.#source = source
    this.#options = options
    this.#notes = notes
  }

  /** Begins to read the values of one step, and returns what is to be told of those that have been read by then. */
  async step(keys: readonly OwnedKey[]): Promise<Finding[]> {
    const before = this.#ahead
    this.#ahead = keys.length === 0 ? undefined : this.#begin(keys)
    const findings = before === undefined ? [] : await this.#judge(before)
    if (this.#options.maxLoad !== 1) findings.push(...(await this.end()))
    return findings
  }

  /** Returns what is to be told of the values that are still being read. */
  async end(): Promise<Finding[]> {
    const last = this.#ahead
    this.#ahead = undefined
    return last === undefined ? [] : this.#judge(last)
  }

  #begin(keys: readonly OwnedKey[]): Reading {
    const seen = keys.map((key) => key.seen)
    const answers = this.#source.values(seen, this.#options)[Symbol.asyncIterator]()
    const first = answers.next()
    // Whoever has seen enough never asks what became of it.
    first.catch(() => undefined)
    return { keys, answers, first }
  }

  async #judge({ keys, answers, first }: Reading): Promise<Finding[]> {
    const findings: Finding[] = []
    let at = 0
    for (let next = await first; next.done !== true; next = await answers.next()) {
      const values = next.value
      const those = keys.slice(at, at + values.length)
      at += values.length
      withoutStacks(() => {
        for (const [index, value] of values.entries()) findings.push(...this.#judgeOne(those[index]!, value))
      })
    }
    return findings
  }

  #judgeOne({ seen, owned }: OwnedKey, value: StoredValue): Finding[] {
    // It has gone, or become something else, since it was seen.
    if (value.type !== seen.type) return []
    this.decoded += 1
    if (value.omitted > 0) this.notDecoded += 1
    const failed = this.#read(owned, value)
    if (failed === undefined) return []
    return this.#notes.fault({ code: 'undecodable', owned, detail: whereUndecodable(failed) }, seen.key)
  }

  #read(owned: OwnedPattern, value: StoredValue): DecodedPart | undefined {
    let reader = this.#readers.get(owned)
    if (reader === undefined) this.#readers.set(owned, (reader = failureIn(owned.spec.codec)))
    return reader(value)
  }
}
