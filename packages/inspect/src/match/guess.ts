import { decodeKey, escapeKey } from './key-name.ts'

/** How coarse the guesses are. */
export interface GuessOptions {
  /** How many patterns are kept apart at the most; 200 unless told. What is beyond is `OTHER`. */
  readonly most?: number
  /**
   * How many different words may stand at one place before they are taken for a placeholder; 20 unless told, and three
   * times as many at the beginning.
   */
  readonly words?: number
}

/** The pattern of what came when there was no room for another. */
export const OTHER = '<other>'

/**
 * Groups keys by the patterns that they seem to have, and keeps a value of each: whatever looks like an id is a
 * placeholder, and so is a place where many different words stand. What is kept is bounded, however many keys there are.
 */
export class Guesses<T> {
  readonly #root: Node<T> = node()
  readonly #most: number
  readonly #make: () => T
  readonly #merge: (into: T, from: T) => void
  #words: number
  #count = 0
  #other: T | undefined

  constructor(
    make: () => T,
    merge: (into: T, from: T) => void,
    { most = 200, words = 20 }: GuessOptions = {},
  ) {
    this.#make = make
    this.#merge = merge
    this.#most = most
    this.#words = words
  }

  /** The value of the pattern that a key, or what follows the keyspace's prefix in it, seems to have. */
  at(key: Buffer): T {
    const segments = segmentsOf(key)
    const there = this.#find(segments)
    if (there !== undefined) return there
    while (this.#count >= this.#most && this.#words > 1) {
      this.#words = Math.floor(this.#words / 2)
      this.#coarsen(this.#root)
      this.#count = counted(this.#root)
    }
    // It may have found room by now, or be one of what was taken together.
    const taken = this.#find(segments)
    if (taken !== undefined) return taken
    if (this.#count >= this.#most) return (this.#other ??= this.#make())
    this.#insert(segments)
    return this.#find(segments)!
  }

  /** Every pattern there is, and its value. */
  *[Symbol.iterator](): Generator<[pattern: string, value: T]> {
    yield* leaves(this.#root, [])
    if (this.#other !== undefined) yield [OTHER, this.#other]
  }

  #insert(segments: readonly Segment[]): void {
    let at = this.#root
    let full: Node<T> | undefined
    for (const { text, isPlace } of segments) {
      const children = isPlace || at.varies ? at.places : at.words
      const name = !isPlace && at.varies ? VARYING : text
      const next = children.get(name) ?? set(children, name)
      // Only where it leaves what was there already can there be a word too many.
      if (this.#isFull(at)) full ??= at
      at = next
    }
    at.value = this.#make()
    this.#count += 1
    if (full === undefined) return
    this.#vary(full)
    this.#count = counted(this.#root)
  }

  #find(segments: readonly Segment[]): T | undefined {
    let at: Node<T> | undefined = this.#root
    for (const { text, isPlace } of segments) {
      at = isPlace ? at.places.get(text) : at.varies ? at.places.get(VARYING) : at.words.get(text)
      if (at === undefined) return undefined
    }
    return at.value
  }

  #isFull(at: Node<T>): boolean {
    return at.words.size > (at === this.#root ? this.#words * 3 : this.#words)
  }

  /** Takes the words at one place together. */
  #vary(at: Node<T>): void {
    const together = at.places.get(VARYING) ?? set(at.places, VARYING)
    const words = [...at.words.values()]
    at.varies = true
    at.words.clear()
    for (const word of words) this.#join(together, word)
  }

  #join(into: Node<T>, from: Node<T>): void {
    if (from.value !== undefined) {
      if (into.value === undefined) into.value = from.value
      else this.#merge(into.value, from.value)
    }
    if (from.varies && !into.varies) this.#vary(into)
    for (const [text, child] of from.places) {
      const there = into.places.get(text)
      if (there === undefined) into.places.set(text, child)
      else this.#join(there, child)
    }
    for (const [text, child] of from.words) {
      if (into.varies) this.#join(into.places.get(VARYING)!, child)
      else if (into.words.has(text)) this.#join(into.words.get(text)!, child)
      else into.words.set(text, child)
    }
    if (this.#isFull(into)) this.#vary(into)
  }

  #coarsen(at: Node<T>): void {
    if (this.#isFull(at)) this.#vary(at)
    for (const child of [...at.words.values(), ...at.places.values()]) this.#coarsen(child)
  }
}

/** The pattern that one key seems to have, by itself. */
export function guess(key: Buffer): string {
  return generalSegments(key).join(':')
}

/** What a key has between its colons, in general; at most nine pieces. */
export function generalSegments(key: Buffer): string[] {
  return segmentsOf(key).map(({ text }) => text)
}

/** What stands between two colons, in general: `<n>` for `42`, `user-<uuid>` for a word with an id in it. */
export function generalised(segment: string): string {
  for (const [shape, place] of WHOLE) if (shape.test(segment)) return place
  if (/^v\d{1,2}$/.test(segment)) return segment
  let general = segment
  for (const [shape, place] of WITHIN) general = general.replace(shape, place)
  return general.length > LONGEST_WORD ? '<long>' : general
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i.source
const DATE = /\d{4}-\d\d-\d\d(?:[T_ ]\d\d(?:[:_-]?\d\d){0,2}(?:\.\d+)?Z?)?/.source
const WHOLE: readonly (readonly [RegExp, string])[] = [
  [/^\d+$/, '<n>'],
  [new RegExp(`^${UUID}$`, 'i'), '<uuid>'],
  [new RegExp(`^${DATE}$`), '<date>'],
  [/^(?=[a-f]*\d)[0-9a-f]{8,}$|^(?=[A-F]*\d)[0-9A-F]{8,}$/, '<hex>'],
  [/^[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+$/, '<email>'],
  [new RegExp(`^(?!.*${UUID})(?=.*\\d)(?=.*[A-Za-z])[A-Za-z0-9_+/=-]{20,}$`, 'i'), '<random>'],
]
const WITHIN: readonly (readonly [RegExp, string])[] = [
  [new RegExp(UUID, 'gi'), '<uuid>'],
  [new RegExp(DATE, 'g'), '<date>'],
  [/(?<![A-Za-z0-9])(?=[a-f]*\d)[0-9a-f]{8,}(?![A-Za-z0-9])/g, '<hex>'],
  [/\d+/g, '<n>'],
]
const LONGEST_WORD = 64
const DEEPEST = 8
const VARYING = '<name>'

interface Node<T> {
  readonly words: Map<string, Node<T>>
  readonly places: Map<string, Node<T>>
  /** The words here are too many to be told apart. */
  varies: boolean
  value: T | undefined
}

interface Segment {
  readonly text: string
  readonly isPlace: boolean
}

function node<T>(): Node<T> {
  return { words: new Map(), places: new Map(), varies: false, value: undefined }
}

function set<T>(children: Map<string, Node<T>>, text: string): Node<T> {
  const child = node<T>()
  children.set(text, child)
  return child
}

/** The general pieces of a key; bytes that are no text, and what is nested too deep, stand for themselves. */
function segmentsOf(key: Buffer): Segment[] {
  const name = decodeKey(key)
  const pieces = (name ?? key.toString('latin1')).split(':', DEEPEST + 1)
  const segments = pieces
    .slice(0, DEEPEST)
    .map((piece) => (name === undefined ? segmentOfBytes(piece) : segmentOf(piece)))
  if (pieces.length > DEEPEST) segments.push({ text: '<rest>', isPlace: true })
  return segments
}

function segmentOfBytes(piece: string): Segment {
  return /[\u0080-\u00ff]/.test(piece) ? { text: '<bytes>', isPlace: true } : segmentOf(piece)
}

function segmentOf(piece: string): Segment {
  // Most pieces are plain words or numbers, and what `generalised` and `escapeKey` make of those is known.
  if (/^[A-Za-z_-]{1,64}$/.test(piece)) return { text: piece, isPlace: false }
  if (/^\d+$/.test(piece)) return NUMBER
  const text = generalised(piece)
  return { text: escapeKey(text), isPlace: /^<[a-z]+>$/.test(text) && text !== piece }
}

const NUMBER: Segment = { text: '<n>', isPlace: true }

function counted(at: Node<unknown>): number {
  let count = at.value === undefined ? 0 : 1
  for (const child of at.words.values()) count += counted(child)
  for (const child of at.places.values()) count += counted(child)
  return count
}

function* leaves<T>(at: Node<T>, path: readonly string[]): Generator<[string, T]> {
  if (at.value !== undefined) yield [path.join(':'), at.value]
  for (const children of [at.words, at.places])
    for (const [text, child] of children) yield* leaves(child, [...path, text])
}
