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

/**
 * The pairs of patterns that could own one key, each with such a key, in the order of the texts that the patterns begin
 * with. Only pairs that fit piece by piece are searched, so the time is near linear where few do.
 */
export function* overlaps<T extends { readonly pattern: Pattern }>(
  owners: readonly T[],
): Generator<[T, T, string]> {
  const paths = owners.map(({ pattern }, index) => pathOf(pattern, index))
  const near: Pair[] = []
  follow(paths, paths, 0, near)
  for (const pair of near) pair.sort(byHead)
  near.sort(([a, b], [c, d]) => byHead(a, c) || byHead(b, d))
  for (const [a, b] of near) {
    const key = overlap(a.pattern, b.pattern)
    if (key !== undefined) yield [owners[a.index]!, owners[b.index]!, key]
  }
}

/** A pattern by the pieces between its colons, with `END` behind them, or `REST` where its `<name*>` begins. */
interface Path {
  readonly pattern: Pattern
  readonly index: number
  readonly pieces: readonly string[]
}

type Pair = [Path, Path]

// No piece is one of these: a `>` only closes a placeholder.
const END = '>'
const REST = '*>'

function pathOf(pattern: Pattern, index: number): Path {
  const star = pattern.text.indexOf(REST)
  const pieces = (star === -1 ? pattern.text : pattern.text.slice(0, star)).split(':')
  pieces.push(star === -1 ? END : REST)
  return { pattern, index, pieces }
}

function byHead(a: Path, b: Path): number {
  const [one, other] = [literalAt(a, 0), literalAt(b, 0)]
  return one < other ? -1 : one > other ? 1 : a.index - b.index
}

function literalAt({ pattern }: Path, at: 0 | -1): string {
  const part = pattern.parts.at(at)
  return part !== undefined && 'literal' in part ? part.literal : ''
}

/** Adds the pairs, one of each list, that fit from piece `at` on; where both are one list, each pair once. */
function follow(ones: readonly Path[], others: readonly Path[], at: number, near: Pair[]): void {
  if (ones === others && ones.length === 1) return
  const left = groupsAt(ones, at)
  const right = ones === others ? left : groupsAt(others, at)
  left.byPiece.forEach((group, piece) => {
    const same = right.byPiece.get(piece)
    if (same === undefined) return
    if (piece === END || piece === REST) pairUp(group, same, near)
    else follow(group, same, at + 1, near)
  })
  followLonger(left, right, at, near)
  if (left !== right) followLonger(right, left, at, near)
}

interface Groups {
  /** By the whole piece, or up to its first `<`. */
  readonly byPiece: ReadonlyMap<string, readonly Path[]>
  /** How much text stands before a `<`. */
  readonly lengths: ReadonlySet<number>
}

function groupsAt(paths: readonly Path[], at: number): Groups {
  const byPiece = new Map<string, Path[]>()
  const lengths = new Set<number>()
  for (const path of paths) {
    const whole = path.pieces[at]!
    const place = whole.indexOf('<')
    if (place !== -1) lengths.add(place)
    add(byPiece, place === -1 ? whole : whole.slice(0, place + 1), path)
  }
  return { byPiece, lengths }
}

/** Adds the pairs of what has a placeholder on the left and something longer than the text before it on the right. */
function followLonger({ byPiece, lengths }: Groups, right: Groups, at: number, near: Pair[]): void {
  const rest = byPiece.get(REST)
  if (rest === undefined && lengths.size === 0) return
  const longer = new Map<string, Path[]>()
  right.byPiece.forEach((group, piece) => {
    if (rest !== undefined && piece !== REST) pairUp(rest, group, near)
    if (piece === END || piece === REST) return
    for (const length of lengths) {
      const begun = `${piece.slice(0, length)}<`
      if (piece.length < length || piece === begun || !byPiece.has(begun)) continue
      for (const path of group) add(longer, begun, path)
    }
  })
  longer.forEach((group, begun) => follow(byPiece.get(begun)!, group, at + 1, near))
}

function add(groups: Map<string, Path[]>, key: string, path: Path): void {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [path])
  else group.push(path)
}

/** Adds the pairs that may end alike too. */
function pairUp(ones: readonly Path[], others: readonly Path[], near: Pair[]): void {
  for (const one of ones) {
    const tail = literalAt(one, -1)
    for (const other of others) {
      if (ones === others && one.index >= other.index) continue
      const otherTail = literalAt(other, -1)
      if (tail.endsWith(otherTail) || otherTail.endsWith(tail)) near.push([one, other])
    }
  }
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
