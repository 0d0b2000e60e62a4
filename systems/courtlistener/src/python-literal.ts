/** What a list or dict found in a field holds, read from JSON or from Python's repr. */
export type Literal = null | boolean | number | bigint | string | readonly Literal[] | LiteralDict

/** A dict: its keys as text, as JSON has them. */
export interface LiteralDict {
  readonly [key: string]: Literal
}

/** A text that is neither JSON nor a Python literal; the message says where it stops to be one. */
export class LiteralError extends Error {
  override readonly name = 'LiteralError'
}

/**
 * Reads a value in either spelling found in the wild: JSON, or what Python's `repr` writes (`['12345']`,
 * `{'n': 1, 'x': None, 'b': True}`). Whole numbers beyond 2^53 come as bigint, so that no id loses its last digits.
 * Fails with `LiteralError`.
 */
export function readLiteral(text: string): Literal {
  const reader = new Reader(text)
  const value = reader.value(0)
  reader.end()
  return value
}

/** Reads a list of texts in either spelling. Numbers in it are read as their digits: an id is written both ways. */
export function readStringList(text: string): string[] {
  const value = readLiteral(text)
  if (!Array.isArray(value)) throw new LiteralError(`expected a list, not ${abridged(text)}`)
  return value.map((item: Literal) => {
    if (typeof item === 'string') return item
    if (typeof item === 'number' || typeof item === 'bigint') return String(item)
    throw new LiteralError(`expected a list of texts, not ${abridged(text)}`)
  })
}

/** Reads a dict of texts in either spelling. */
export function readStringDict(text: string): Record<string, string> {
  const value = readLiteral(text)
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new LiteralError(`expected a dict, not ${abridged(text)}`)
  }
  const entries = Object.entries(value).map(([key, item]: [string, Literal]) => {
    if (typeof item !== 'string') throw new LiteralError(`expected a dict of texts, not ${abridged(text)}`)
    return [key, item] as const
  })
  return Object.fromEntries(entries)
}

const constants: ReadonlyMap<string, Literal> = new Map<string, Literal>([
  ['None', null],
  ['null', null],
  ['True', true],
  ['true', true],
  ['False', false],
  ['false', false],
])

const escapes: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  // JSON's alone. Python would keep the backslash, but its repr never writes one here.
  ['/', '/'],
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
])

const hexLengths: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
])

// Far deeper than anything that is written, far less than what the stack holds.
const maxDepth = 100

/** One pass over a text. The two grammars agree on every text that both allow, so one reader serves. */
class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(depth: number): Literal {
    if (depth > maxDepth) this.#fail(`nested deeper than ${maxDepth}`)
    this.#space()
    const char = this.#text[this.#at]
    if (char === '[') return this.#items(']', depth).items
    if (char === '(') return this.#tuple(depth)
    if (char === '{') return this.#dict(depth)
    if (char === "'" || char === '"') return this.#string()
    return this.#number() ?? this.#constant()
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) this.#fail('something follows the value')
  }

  #items(close: string, depth: number): { items: Literal[]; commas: number } {
    const items: Literal[] = []
    let commas = 0
    this.#at += 1
    for (;;) {
      if (this.#take(close)) return { items, commas }
      if (items.length > commas) this.#fail(`expected , or ${close}`)
      items.push(this.value(depth + 1))
      if (this.#take(',')) commas += 1
    }
  }

  #tuple(depth: number): Literal {
    const { items, commas } = this.#items(')', depth)
    // (1) is a one in brackets, (1,) a tuple.
    return commas === 0 && items.length === 1 ? (items[0] as Literal) : items
  }

  #dict(depth: number): LiteralDict {
    const entries: [string, Literal][] = []
    let isOpen = true
    this.#at += 1
    for (;;) {
      if (this.#take('}')) return Object.fromEntries(entries)
      if (!isOpen) this.#fail('expected , or }')
      const key = this.value(depth + 1)
      if (typeof key === 'object' && key !== null) this.#fail('a key that is no text or number')
      if (!this.#take(':')) this.#fail('expected :')
      entries.push([String(key), this.value(depth + 1)])
      isOpen = this.#take(',')
    }
  }

  #string(): string {
    const quote = this.#text[this.#at] as string
    let value = ''
    this.#at += 1
    for (;;) {
      const char = this.#text[this.#at]
      if (char === undefined || char === '\n' || char === '\r') this.#fail('a text without its closing quote')
      this.#at += 1
      if (char === quote) return value
      value += char === '\\' ? this.#escaped() : char
    }
  }

  #escaped(): string {
    const char = this.#text[this.#at] ?? ''
    this.#at += 1
    const plain = escapes.get(char)
    if (plain !== undefined) return plain
    const length = hexLengths.get(char)
    if (length === undefined) return this.#fail(`an escape that neither spelling writes: \\${char}`)
    const hex = this.#text.slice(this.#at, this.#at + length)
    const code = /^[0-9a-fA-F]+$/.test(hex) && hex.length === length ? Number.parseInt(hex, 16) : Infinity
    if (code > 0x10ffff) return this.#fail(`an escape that names no character: \\${char}${hex}`)
    this.#at += length
    return String.fromCodePoint(code)
  }

  #number(): number | bigint | undefined {
    const [word] = this.#match(/[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/y) ?? []
    if (word === undefined) return undefined
    const number = Number(word)
    return Number.isSafeInteger(number) || !/^[-+]?\d+$/.test(word) ? number : BigInt(word.replace('+', ''))
  }

  #constant(): Literal {
    const start = this.#at
    const [word = ''] = this.#match(/[A-Za-z]+/y) ?? []
    const value = constants.get(word)
    if (value !== undefined) return value
    this.#at = start
    return this.#fail('neither JSON nor a Python literal')
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match !== null) this.#at = pattern.lastIndex
    return match
  }

  #take(char: string): boolean {
    this.#space()
    if (this.#text[this.#at] !== char) return false
    this.#at += 1
    return true
  }

  #space(): void {
    this.#match(/[ \t\r\n\f]*/y)
  }

  #fail(what: string): never {
    throw new LiteralError(`${what}, at ${this.#at} in ${abridged(this.#text)}`)
  }
}

function abridged(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
