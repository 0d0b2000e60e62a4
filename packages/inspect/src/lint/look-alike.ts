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
  const pieces = pattern.text.replaceAll(/<[^>]*>/g, '<>').split(':')
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
  return most > 0 && distance(one, other, most) <= most
}

/** Without case, separators and plurals. */
function bare(word: string): string {
  const words = word.toLowerCase().split(/[-_.{}\s]+/)
  return words.map((each) => each.replace(/(?:ies|y)$/, 'i').replace(/(?<=.{2})e?s$/, '')).join('')
}

/** The distance of Levenshtein, as far as `most`: beyond it the answer is `most + 1`. */
function distance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[other.length]!
}
