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
  const read = keyReader(each.pattern, each.spec.params)
  const leaf = { owned: each, owns: (key: string) => read(key) !== undefined }
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

function find(at: Node, key: string, from: number): Owned | undefined {
  const colon = key.indexOf(':', from)
  const piece = key.slice(from, colon === -1 ? key.length : colon)
  const below = (child: Node) => (colon === -1 ? owner(child.leaves, key) : find(child, key, colon + 1))

  const literal = at.literals.get(piece)
  const exact = literal === undefined ? undefined : below(literal)
  if (exact !== undefined) return exact
  for (const [length, heads] of at.templates) {
    const child = heads.get(piece.slice(0, length))
    const found = child === undefined ? undefined : below(child)
    if (found !== undefined) return found
  }
  for (const [length, heads] of at.open) {
    const found = owner(heads.get(piece.slice(0, length)) ?? [], key)
    if (found !== undefined) return found
  }
  return undefined
}

function owner(leaves: readonly Leaf[], key: string): Owned | undefined {
  return leaves.find((leaf) => leaf.owns(key))?.owned
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
