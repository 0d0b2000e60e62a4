import { keyReader } from '../kind/entry.ts'
import { owned, type Owned, type Schema } from '../schema.ts'

/** Finds the pattern that owns a key, in a time that does not grow with the number of patterns. */
export interface Matcher {
  /** The pattern that a key belongs to, or `undefined` where none does. */
  match(key: string): Owned | undefined
}

/**
 * A matcher over all that a schema owns: a trie over what stands between the colons. A placeholder never holds a colon,
 * so a key walks the trie as its pattern does; pieces with a placeholder are told apart by the text they begin with,
 * and what is found is parsed once more, since only the pattern itself has the last word.
 */
export function matcher(schema: Schema, prefix = ''): Matcher {
  const root = node()
  for (const each of owned(schema, prefix)) insert(root, each)
  return { match: (key) => find(root, key, 0) }
}

interface Node {
  /** By a piece without a placeholder. */
  readonly literals: Map<string, Node>
  /** By the text before the first placeholder of a piece. */
  readonly templates: Heads<Node>
  /** Patterns whose `<name*>` begins in this piece, by the text before the first placeholder of it. */
  readonly open: Heads<Leaf[]>
  readonly leaves: Leaf[]
}

/** Values by a text that they begin with, first by its length: each length is one look-up. */
type Heads<V> = Map<number, Map<string, V>>

interface Leaf {
  readonly owned: Owned
  readonly owns: (key: string) => boolean
}

function node(): Node {
  return { literals: new Map(), templates: new Map(), open: new Map(), leaves: [] }
}

function insert(root: Node, each: Owned): void {
  const leaf = { owned: each, owns: ownership(each) }
  let at = root
  for (const piece of each.pattern.text.split(':')) {
    const placeholder = piece.indexOf('<')
    if (placeholder === -1) {
      at = at.literals.get(piece) ?? set(at.literals, piece, node())
      continue
    }
    const head = piece.slice(0, placeholder)
    if (piece.includes('*>')) {
      const leaves = headed(at.open, head) ?? set(lengthOf(at.open, head), head, [])
      leaves.push(leaf)
      return
    }
    at = headed(at.templates, head) ?? set(lengthOf(at.templates, head), head, node())
  }
  at.leaves.push(leaf)
}

/** Whether a key whose pieces fit is of the pattern: where they are plain words and whole placeholders, it is. */
function ownership({ pattern, spec }: Owned): (key: string) => boolean {
  const isPlain = pattern.params.every((name) => spec.params[name] === undefined)
  if (isPlain && /^(?:[^:<]+|<\w+>|)(?::(?:[^:<]+|<\w+>|))*$/.test(pattern.text)) return () => true
  if (isPlain) return (key) => pattern.parse(key) !== undefined
  const read = keyReader(pattern, spec.params)
  return (key) => read(key) !== undefined
}

function find(at: Node, key: string, from: number): Owned | undefined {
  const colon = key.indexOf(':', from)
  const piece = key.slice(from, colon === -1 ? key.length : colon)

  const literal = at.literals.get(piece)
  const exact = literal === undefined ? undefined : below(literal, key, colon)
  if (exact !== undefined) return exact
  for (const [length, heads] of at.templates) {
    // A placeholder holds one character at the least.
    if (piece.length <= length) continue
    const child = heads.get(length === 0 ? '' : piece.slice(0, length))
    const found = child === undefined ? undefined : below(child, key, colon)
    if (found !== undefined) return found
  }
  for (const [length, heads] of at.open) {
    const leaves = heads.get(piece.slice(0, length))
    const found = leaves === undefined ? undefined : owner(leaves, key)
    if (found !== undefined) return found
  }
  return undefined
}

function below(child: Node, key: string, colon: number): Owned | undefined {
  return colon === -1 ? owner(child.leaves, key) : find(child, key, colon + 1)
}

function owner(leaves: readonly Leaf[], key: string): Owned | undefined {
  for (const leaf of leaves) if (leaf.owns(key)) return leaf.owned
  return undefined
}

function headed<V>(heads: Heads<V>, head: string): V | undefined {
  return heads.get(head.length)?.get(head)
}

function lengthOf<V>(heads: Heads<V>, head: string): Map<string, V> {
  return heads.get(head.length) ?? set(heads, head.length, new Map<string, V>())
}

function set<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value)
  return value
}
