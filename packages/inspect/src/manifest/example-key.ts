import { KeyError, type ParamCodec } from 'keyspec'
import type { Pattern } from 'keyspec/extend'

/** A key of a pattern, for people to look at: `session:42`. */
export function exampleKey(
  pattern: Pattern,
  codecs: { readonly [name: string]: ParamCodec<any, any> },
): string {
  const texts = pattern.params.map((name) => exampleText(name, codecs[name]))
  try {
    return pattern.format(texts)
  } catch (error) {
    // What separates two placeholders may stand in a name: a digit does so more rarely.
    if (error instanceof KeyError) return pattern.format(texts.map((_, index) => String(index + 1)))
    throw error
  }
}

// What stands in keys, from the strictest to what any codec might take: the first that a codec can read is its example.
const HEX = '5b0e6f1c9d2a7e438f61b0c4d7a9e2358c1f64ab093de75210fc8e96b4d3a7f1'
const TEXTS = [
  '2024-09-17_14',
  '2024-09-17',
  '2024-09-17T14:30:00.000Z',
  ...Array.from({ length: 57 }, (_, index) => HEX.slice(0, 64 - index)),
  '42',
  'true',
  '6f1c9d2a-7e43-4f61-b0c4-d7a9e2358c1f',
]

function exampleText(name: string, codec: ParamCodec<any, any> | undefined): string {
  if (codec !== undefined) {
    const found = TEXTS.find((text) => reads(codec, text))
    if (found !== undefined) return found
  }
  return /id$/i.test(name)
    ? '42'
    : name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
}

function reads(codec: ParamCodec<any, any>, text: string): boolean {
  try {
    return codec.decode(text) !== undefined
  } catch {
    return false
  }
}
