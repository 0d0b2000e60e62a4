import leven from 'leven'
import type { OwnedPattern } from 'keyspec/extend'

/**
 * Pairs of patterns of different entries that have the same text up to a piece that looks like the other's: another case, a
 * plural, one letter in five or two in eight. Old names, and two of another program, are not looked at.
 */
export function* lookAlikes(
  all: readonly OwnedPattern[],
  alike: readonly string[] = [],
): Generator<readonly [one: OwnedPattern, other: OwnedPattern, words: readonly [string, string]]> {
  const meant = new Set(alike)
  const places = new Map<string, Map<string, OwnedPattern>>()
  for (const each of all) {
    if (each.legacy) continue
    for (const { before, piece } of piecesOf(each)) {
      const known = places.get(before) ?? new Map<string, OwnedPattern>()
      places.set(before, known)
      if (!known.has(piece)) known.set(piece, each)
    }
  }
  for (const known of places.values()) {
    const pieces = [...known]
    for (const [index, [word, one]] of pieces.entries()) {
      for (const [otherWord, other] of pieces.slice(index + 1)) {
        if (
          one.entry === other.entry ||
          (one.spec.external !== undefined && other.spec.external !== undefined)
        )
          continue
        if (meant.has(word) || meant.has(otherWord) || !isAlike(word, otherWord)) continue
        yield [one, other, [word, otherWord]]
      }
    }
  }
}

/** The texts between colons that hold no placeholder, each with all that stands before it. */
function piecesOf({ pattern }: OwnedPattern): { readonly before: string; readonly piece: string }[] {
  // Which placeholder it is does not matter.
  const pieces = pattern.text.replaceAll(/<[^<>]*>/g, '<>').split(':')
  return pieces.flatMap((piece, at) =>
    piece === '' || piece.includes('<') ? [] : [{ before: pieces.slice(0, at).join(':'), piece }],
  )
}

function isAlike(one: string, other: string): boolean {
  // Names that differ in a number are numbered.
  if (one.replaceAll(/\d+/g, '') === other.replaceAll(/\d+/g, '')) return false
  if (bare(one) === bare(other)) return true
  const shorter = Math.min(one.length, other.length)
  const most = shorter >= 8 ? 2 : shorter >= 5 ? 1 : 0
  return most > 0 && leven(one, other, { maxDistance: most + 1 }) <= most
}

/** Without case, separators and plurals. */
function bare(word: string): string {
  const words = word.toLowerCase().split(/[-_.{}\s]+/)
  return words.map((each) => each.replace(/(?:ies|y)$/, 'i').replace(/(?<=.{2})e?s$/, '')).join('')
}
