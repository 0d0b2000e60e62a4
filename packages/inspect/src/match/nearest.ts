import leven from 'leven'
import type { Schema } from 'keyspec'
import { type OwnedPattern, patternsOf } from 'keyspec/extend'
import { escapeKey } from './key-name.ts'

/** A pattern that a key is almost of. */
export interface NearMatch {
  readonly owned: OwnedPattern
  /** Why the key is not of it, in words. */
  readonly reason: string
}

/** The patterns that a key comes nearest to, by the pieces between their colons, and what stands between them. */
export function nearest(schema: Schema, prefix: string, name: string, most = 3): NearMatch[] {
  const pieces = name.split(':')
  const found: { readonly near: NearMatch; readonly distance: number }[] = []
  for (const each of patternsOf(schema, prefix)) {
    const parts = each.pattern.text.split(':')
    const { distance, faults } = align(each, parts, pieces)
    if (distance <= Math.max(1, parts.length / 2))
      found.push({ distance, near: { owned: each, reason: faults.join(', ') } })
  }
  found.sort((a, b) => a.distance - b.distance)
  const best = found[0]?.distance ?? 0
  return found
    .slice(0, most)
    .filter(({ distance }) => distance <= best + AS_GOOD)
    .map(({ near }) => near)
}

// Half a piece: what is farther behind the best is of no help beside it.
const AS_GOOD = 0.5

interface Aligned {
  readonly distance: number
  readonly faults: readonly string[]
}

/** The edit distance of the pieces (R. A. Wagner, M. J. Fischer, J. ACM 21, 1974), and the edits in words. */
function align(each: OwnedPattern, parts: readonly string[], pieces: readonly string[]): Aligned {
  // Of very long keys the beginning says enough.
  const given = pieces.slice(0, parts.length + MOST_EXTRA)
  let row: Aligned[] = [{ distance: 0, faults: [] }]
  for (const piece of given) row.push(edited(row.at(-1)!, 1, `has ${quoted(piece)} too many`))
  for (const part of parts) {
    const next: Aligned[] = [edited(row[0]!, 1, `lacks ${part.includes('<') ? part : quoted(part)}`)]
    for (const [at, piece] of given.entries()) {
      const { cost, fault } = compared(each, part, piece)
      const isOpen = part.includes('*>')
      // Of equal ways the one that blames the end of the key.
      const ways = [
        edited(next[at]!, isOpen ? 0 : 1, isOpen ? undefined : `has ${quoted(piece)} too many`),
        edited(row[at]!, cost, fault),
        edited(row[at + 1]!, 1, `lacks ${part.includes('<') ? part : quoted(part)}`),
      ]
      next.push(ways.reduce((best, way) => (way.distance < best.distance ? way : best)))
    }
    row = next
  }
  return row.at(-1)!
}

const MOST_EXTRA = 3

function edited({ distance, faults }: Aligned, cost: number, fault: string | undefined): Aligned {
  return { distance: distance + cost, faults: fault === undefined ? faults : [...faults, fault] }
}

/** How far a piece of a key is from a piece of a pattern: from 0 to 1. */
function compared({ spec }: OwnedPattern, part: string, piece: string): { cost: number; fault?: string } {
  if (!part.includes('<')) {
    if (part === piece) return { cost: 0 }
    return { cost: unlike(part, piece), fault: `${quoted(piece)} is not ${quoted(part)}` }
  }
  const [head, tail] = [part.slice(0, part.indexOf('<')), part.slice(part.lastIndexOf('>') + 1)]
  const open = part.includes('*>')
  if (!piece.startsWith(head) || (!open && !piece.endsWith(tail)))
    return { cost: Math.max(0.3, unlike(head + tail, piece)), fault: `${quoted(piece)} is no ${part}` }
  const text = piece.slice(head.length, open ? undefined : piece.length - tail.length)
  if (text === '' && !open) return { cost: 0.3, fault: `${part} is empty` }
  const placeholder = /^<(\w+)>$/.exec(part)?.[1]
  const codec = placeholder === undefined ? undefined : spec.params[placeholder]
  if (codec !== undefined && codec.decode(piece) === undefined)
    return { cost: 0.3, fault: `${quoted(piece)} is no ${part}, which is ${codec.name}` }
  return { cost: 0 }
}

/** How unlike two words are: the part of the longer that must be changed. */
function unlike(a: string, b: string): number {
  if (Math.max(a.length, b.length) > LONGEST_WORD) return 1
  return leven(a, b) / Math.max(a.length, b.length, 1)
}

const LONGEST_WORD = 64

function quoted(piece: string): string {
  return `"${escapeKey(piece.length > LONGEST_WORD ? `${piece.slice(0, LONGEST_WORD)}…` : piece)}"`
}
