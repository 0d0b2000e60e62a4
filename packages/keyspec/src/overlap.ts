import type { Pattern } from './pattern.ts'

/** One step of a pattern: a character that must stand, or a loop over what a placeholder may hold. */
type Step = { readonly char: string } | { readonly many: boolean }

/**
 * A key that both patterns could own, or `undefined` when there is none.
 *
 * Each pattern is a small automaton (a placeholder is one character or more, without `:` unless `<name*>`); the search
 * walks their product breadth first, so the answer is sound and the example a shortest one. What a param codec would
 * refuse is not considered: two patterns that only a codec tells apart count as overlapping.
 */
export function overlap(a: Pattern, b: Pattern): string | undefined {
  // Nearly all pairs part here: no search is needed for `<a>:x` and `<a>:y`.
  if (piecesDiffer(piecesOf(a), piecesOf(b))) return undefined
  const [left, right] = [stepsOf(a), stepsOf(b)]
  const width = right.length + 1
  const cameFrom = new Map<number, { from: number; char: string }>([[0, { from: -1, char: '' }]])
  const goal = left.length * width + right.length

  const queue = [0]
  for (const state of queue) {
    if (state === goal) return trace(state, cameFrom)
    const [i, j] = [Math.floor(state / width), state % width]
    for (const [nextI, charA] of moves(left, i)) {
      for (const [nextJ, charB] of moves(right, j)) {
        const char = meet(charA, charB)
        const next = nextI * width + nextJ
        if (char === undefined || cameFrom.has(next)) continue
        cameFrom.set(next, { from: state, char })
        queue.push(next)
      }
    }
  }
  return undefined
}

/** The pairs of patterns that could own one key, each with such a key; near linear when few share a beginning. */
export function* overlaps<T extends { readonly pattern: Pattern }>(
  owners: readonly T[],
): Generator<[T, T, string]> {
  const sorted = owners
    .map((owner) => ({ owner, head: headOf(owner.pattern) }))
    .sort((a, b) => (a.head < b.head ? -1 : a.head > b.head ? 1 : 0))
  for (const [index, { owner, head }] of sorted.entries()) {
    for (let other = index + 1; other < sorted.length && sorted[other]!.head.startsWith(head); other++) {
      const key = overlap(owner.pattern, sorted[other]!.owner.pattern)
      if (key !== undefined) yield [owner, sorted[other]!.owner, key]
    }
  }
}

function headOf({ parts: [first] }: Pattern): string {
  return first !== undefined && 'literal' in first ? first.literal : ''
}

function headsDiffer(a: string, b: string): boolean {
  return a.length < b.length ? !b.startsWith(a) : !a.startsWith(b)
}

/** What stands between two colons: a word, or what a piece with placeholders begins with. */
interface Piece {
  readonly head: string
  readonly form: 'word' | 'places' | 'open'
}

function piecesOf(pattern: Pattern): readonly Piece[] {
  let pieces = piecesBefore.get(pattern)
  if (pieces === undefined) piecesBefore.set(pattern, (pieces = pattern.text.split(':').map(pieceOf)))
  return pieces
}

// A schema of a thousand entries asks of each a thousand times.
const piecesBefore = new WeakMap<Pattern, readonly Piece[]>()

function pieceOf(piece: string): Piece {
  const place = piece.indexOf('<')
  if (place === -1) return { head: piece, form: 'word' }
  return { head: piece.slice(0, place), form: piece.includes('*>') ? 'open' : 'places' }
}

/** Whether no key can be of both, as their pieces show: up to a `<name*>` the pieces of a key are those of its pattern. */
function piecesDiffer(a: readonly Piece[], b: readonly Piece[]): boolean {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [left, right] = [a[at]!, b[at]!]
    if (left.form === 'open' || right.form === 'open') return headsDiffer(left.head, right.head)
    if (left.form === 'word' && right.form === 'word') {
      if (left.head !== right.head) return true
    } else if (headsDiffer(left.head, right.head)) return true
  }
  return a.length !== b.length
}

/** A placeholder is a step that must be taken once, then a loop that may be taken again. */
function stepsOf(pattern: Pattern): Step[] {
  return pattern.parts.flatMap((part): Step[] =>
    'literal' in part ? Array.from(part.literal, (char) => ({ char })) : [{ many: part.many }],
  )
}

const NOT_COLON = Symbol('any character but :')
const ANY = Symbol('any character')
type Char = string | typeof NOT_COLON | typeof ANY

function moves(steps: readonly Step[], at: number): [next: number, char: Char][] {
  const found: [number, Char][] = []
  const step = steps[at]
  if (step !== undefined) found.push([at + 1, 'char' in step ? step.char : step.many ? ANY : NOT_COLON])
  const behind = steps[at - 1]
  if (behind !== undefined && 'many' in behind) found.push([at, behind.many ? ANY : NOT_COLON])
  return found
}

function meet(a: Char, b: Char): string | undefined {
  if (typeof a === 'string') return b === a || b === ANY || (b === NOT_COLON && a !== ':') ? a : undefined
  if (typeof b === 'string') return meet(b, a)
  return 'x'
}

function trace(goal: number, cameFrom: ReadonlyMap<number, { from: number; char: string }>): string {
  let key = ''
  for (let state = goal; state > 0;) {
    const { from, char } = cameFrom.get(state)!
    key = char + key
    state = from
  }
  return key
}
