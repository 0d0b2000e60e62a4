/** A letter of a glob pattern: a test of one letter, or any number of them. */
type Piece = ((letter: string) => boolean) | 'any'

/**
 * Whether a text matches a glob pattern, as Redis reads it: `*`, `?`, `[a-z]`, `[^a]`, and `\` before a letter that means
 * itself. Takes time in proportion to the product of both lengths, whatever they hold.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const pieces = piecesOf(Array.from(pattern))
  const letters = Array.from(text)
  let at = 0
  let next = 0
  // Where the last `*` stands, and what it leaves to the pieces behind it.
  let star = -1
  let left = 0
  while (at < letters.length) {
    const piece = pieces[next]
    if (piece === 'any') {
      star = next
      left = at
      next += 1
    } else if (piece?.(letters[at]!) === true) {
      at += 1
      next += 1
    } else if (star >= 0) {
      next = star + 1
      left += 1
      at = left
    } else return false
  }
  while (pieces[next] === 'any') next += 1
  return next === pieces.length
}

function piecesOf(letters: readonly string[]): Piece[] {
  const pieces: Piece[] = []
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at]!
    if (letter === '*') pieces.push('any')
    else if (letter === '?') pieces.push(() => true)
    else if (letter === '[') {
      const set = readSet(letters, at + 1)
      pieces.push(set.holds)
      at = set.end
    } else {
      if (letter === '\\' && at + 1 < letters.length) at += 1
      const own = letters[at]!
      pieces.push((other) => other === own)
    }
  }
  return pieces
}

/** Reads a set up to its bracket, or the end of the pattern. A range takes the letter behind its `-`, even a bracket. */
function readSet(
  letters: readonly string[],
  from: number,
): { holds: (letter: string) => boolean; end: number } {
  const isNot = letters[from] === '^'
  const ranges: (readonly [string, string])[] = []
  let at = isNot ? from + 1 : from
  for (; at < letters.length && letters[at] !== ']'; at += 1) {
    if (letters[at] === '\\' && at + 1 < letters.length) {
      at += 1
      ranges.push([letters[at]!, letters[at]!])
    } else if (letters[at + 1] === '-' && at + 2 < letters.length) {
      ranges.push([letters[at]!, letters[at + 2]!].toSorted() as [string, string])
      at += 2
    } else ranges.push([letters[at]!, letters[at]!])
  }
  const holds = (letter: string) => ranges.some(([low, high]) => low <= letter && letter <= high) !== isNot
  return { holds, end: at }
}
