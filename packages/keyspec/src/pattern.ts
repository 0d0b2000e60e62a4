import { KeyError, SchemaError } from './errors.ts'

/** `Params<'queue:{<name>}:job:<id>'>` is `'name' | 'id'`. */
export type Params<P extends string> = P extends `${string}<${infer Name}>${infer Rest}`
  ? WithoutStar<Name> | Params<Rest>
  : never

type WithoutStar<Name extends string> = Name extends `${infer Bare}*` ? Bare : Name

/** The most bytes (UTF-8) that a key may have, its prefix and all. What is longer belongs in the value, or in a `param.digest()`. */
const KEY_BYTES = 1024

/** Says why a text with a lone surrogate is refused. */
export const ILL_FORMED = 'it is not well-formed Unicode, and would be stored as another text'

/** A piece of a pattern: text that stands as it is, or a placeholder (`many` when it may hold `:`). */
export type Part = { readonly literal: string } | { readonly name: string; readonly many: boolean }

/** A key pattern, parsed: it writes a key from the texts of its placeholders, and reads them back. */
export interface Pattern {
  /** As it was written: `session:<userId>`. */
  readonly text: string
  readonly parts: readonly Part[]
  /** The placeholders, in the order they stand. */
  readonly params: readonly string[]
  /** What stands between the first `{` and `}`, placeholders and all: what decides the cluster slot. */
  readonly hashTag: string | undefined
  /** The key for these texts, in the order of `params`; a `KeyError` when it would not parse back, or is too long. */
  format(texts: readonly string[]): string
  /** The texts of a key's placeholders, or `undefined` when the key is not of this pattern. */
  parse(key: string): string[] | undefined
}

const NAME = /^[A-Za-z_]\w*$/
const PATTERN = /^[^<>]*(?:<[A-Za-z_]\w*\*?>[^<>]*)*$/

/** Parses a pattern; a `SchemaError` when it is malformed or its keys could not be parsed back. */
export function pattern(text: string): Pattern {
  const parts = split(text)
  const params: string[] = []
  for (const part of parts) if ('name' in part) params.push(part.name)
  validatePattern(text, parts, params)
  const hashTag = tagOf(text)
  const parse = parser(parts)
  return { text, parts, params, hashTag, parse, format: formatter(text, parts, parse, hashTag !== undefined) }
}

/**
 * Checks that keys of two patterns belong together, one of each for the same values.
 * @param relation What one is to the other, for the message: `"a:<x>" is locked by "b:<y>"`
 * @throws SchemaError if one has a placeholder that the other lacks
 */
export function requireSamePlaceholders(one: Pattern, other: Pattern, relation: string): void {
  if ([...one.params].sort().join() !== [...other.params].sort().join())
    throw new SchemaError(`${relation}: both need the same placeholders`)
}

function split(text: string): Part[] {
  const parts: Part[] = []
  const pieces = text.split(/<([^<>]*)>/)
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index]!
    if (index % 2 === 0) {
      if (piece !== '') parts.push({ literal: piece })
    } else {
      const many = piece.endsWith('*')
      parts.push({ name: many ? piece.slice(0, -1) : piece, many })
    }
  }
  return parts
}

// Asked of each pattern when a program starts: of the whole text at once, and part by part only to say what is wrong.
function validatePattern(text: string, parts: readonly Part[], params: readonly string[]): void {
  const fail = (why: string) => {
    throw new SchemaError(`pattern "${text}": ${why}`)
  }
  if (text === '') fail('is empty')
  if (!text.isWellFormed()) fail('is not well-formed Unicode')
  if (!PATTERN.test(text)) {
    for (const part of parts) {
      if ('literal' in part && /[<>]/.test(part.literal))
        fail('has a < or > that does not enclose a placeholder')
      if ('name' in part && !NAME.test(part.name)) fail(`<${part.name}> is not a placeholder's name`)
    }
  }
  for (const name of params) {
    if (name in Object.prototype)
      fail(`<${name}> is a property of every JavaScript object: give the placeholder another name`)
  }
  for (let i = 1; i < params.length; i++) {
    if (params.indexOf(params[i]!) !== i) fail(`<${params[i]}> stands twice`)
  }
  if (text.indexOf('*>') !== text.lastIndexOf('*>')) fail('can have at most one <name*>')
  const touching = /<(\w+)\*?><(\w+)/.exec(text)
  if (touching !== null) {
    fail(`<${touching[1]}><${touching[2]}> would not parse back: put a separator between them`)
  }
}

/** The rule of Redis Cluster: what stands between the first `{` and the next `}`, unless it is empty. */
function tagOf(text: string): string | undefined {
  const open = text.indexOf('{')
  const close = text.indexOf('}', open + 1)
  return open === -1 || close <= open + 1 ? undefined : text.slice(open + 1, close)
}

/** Reads from the left up to the one `<name*>`, and from the right what stands behind it. */
function parser(parts: readonly Part[]): Pattern['parse'] {
  const star = parts.findIndex((part) => 'name' in part && part.many)
  const left = star === -1 ? parts : parts.slice(0, star)
  const right = star === -1 ? [] : parts.slice(star + 1)

  return (key) => {
    const texts: string[] = []
    let at = 0
    for (let i = 0; i < left.length; i++) {
      const part = left[i]!
      if ('literal' in part) {
        if (!key.startsWith(part.literal, at)) return undefined
        at += part.literal.length
      } else {
        const next = left[i + 1] as { literal: string } | undefined
        const last = star === -1 && i >= left.length - 2
        const end = last ? key.length - (next?.literal.length ?? 0) : key.indexOf(next!.literal, at)
        if (end <= at || hasColon(key, at, end)) return undefined
        texts.push(key.slice(at, end))
        at = end
      }
    }
    if (star === -1) return at === key.length ? texts : undefined

    const behind: string[] = []
    let to = key.length
    for (let i = right.length - 1; i >= 0; i--) {
      const part = right[i]!
      if ('literal' in part) {
        to -= part.literal.length
        if (to < at || !key.startsWith(part.literal, to)) return undefined
      } else {
        const { literal } = right[i - 1] as { literal: string }
        const start = key.lastIndexOf(literal, to - literal.length) + literal.length
        if (start < at + literal.length || start >= to || hasColon(key, start, to)) return undefined
        behind.unshift(key.slice(start, to))
        to = start
      }
    }
    if (to <= at) return undefined
    texts.push(key.slice(at, to), ...behind)
    return texts
  }
}

function hasColon(key: string, from: number, to: number): boolean {
  const at = key.indexOf(':', from)
  return at !== -1 && at < to
}

function formatter(
  text: string,
  parts: readonly Part[],
  parse: Pattern['parse'],
  tagged: boolean,
): Pattern['format'] {
  const literals = ['']
  const names: { name: string; many: boolean }[] = []
  for (const part of parts) {
    if ('literal' in part) literals[literals.length - 1] = part.literal
    else {
      names.push(part)
      literals.push('')
    }
  }
  // Values without `:` parse back by themselves where a `:` stands between any two placeholders; else each key is tried.
  const needsTrial = />[^:<>]+</.test(text)

  const refuse = (name: string, why: string) => {
    throw new KeyError(`${text}: <${name}> ${why}`, text)
  }
  const check = (value: string, { name, many }: { name: string; many: boolean }) => {
    if (value === '') refuse(name, 'is empty: every placeholder needs a value')
    if (!many && value.includes(':')) {
      refuse(
        name,
        `has a ":" at ${value.indexOf(':')}, which would make it another key; declare <${name}*> if it may have one, ` +
          'or a param codec such as ip() or digest()',
      )
    }
    if (tagged && (value.includes('{') || value.includes('}'))) {
      refuse(name, 'has a brace, which would change the hash tag, and so the cluster slot')
    }
    if (!value.isWellFormed()) refuse(name, `cannot be written: ${ILL_FORMED}`)
  }

  const tooLong = (length: number, unit: string) => {
    throw new KeyError(
      `${text}: a key has at most ${KEY_BYTES} bytes, and this one would have ${length} ${unit} or more; ` +
        'write a long text as its digest()',
      text,
    )
  }

  return (texts) => {
    let key = literals[0]!
    for (let i = 0; i < names.length; i++) {
      const value = texts[i]!
      if (value.length > KEY_BYTES) tooLong(value.length, 'characters')
      check(value, names[i]!)
      key += value + literals[i + 1]!
    }
    // A UTF-16 unit takes at most three bytes.
    if (key.length * 3 > KEY_BYTES && Buffer.byteLength(key) > KEY_BYTES)
      tooLong(Buffer.byteLength(key), 'bytes')
    if (needsTrial) {
      const back = parse(key)
      if (back === undefined || back.some((value, i) => value !== texts[i])) {
        throw new KeyError(`${text}: a key of these values would parse back to other values`, text)
      }
    }
    return key
  }
}
