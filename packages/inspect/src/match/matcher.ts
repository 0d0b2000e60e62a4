import { type Schema, validate } from 'keyspec'
import { keyReader, ownedAnywhere, type OwnedPattern } from 'keyspec/extend'

/** Finds the pattern that owns a key, in a time that does not grow with the number of patterns. */
export interface Matcher {
  /** The pattern that a key belongs to, or `undefined` where none does. */
  match(key: string): OwnedPattern | undefined
}

/**
 * A matcher over all that a schema owns: a trie over what stands between the colons. A placeholder never holds a colon,
 * so a key walks the trie as its pattern does; pieces with a placeholder are told apart by the text they begin with,
 * and what is found is parsed once more, since only the pattern itself has the last word.
 * @throws SchemaError if a key could belong to two entries, as `open` does: the tools would ascribe it to either of them
 */
export function matcher(schema: Schema, prefix = ''): Matcher {
  validate(schema, { prefix })
  return unprovenMatcher(schema, prefix)
}

/** A matcher over a schema in which a key may belong to two entries: it finds one of them. */
export function unprovenMatcher(schema: Schema, prefix = ''): Matcher {
  const root = node()
  for (const each of ownedAnywhere(schema, prefix)) insert(root, each)
  return { match: (key) => find(root, key, 0) }
}

/** Made of what its patterns need: nearly all have but one way to go on. */
interface Node {
  /** By a piece without a placeholder. */
  literals: Map<string, Node> | undefined
  /** By the text before the first placeholder of a piece. */
  templates: Heads<Node> | undefined
  /** Patterns whose `<name*>` begins in this piece, by the text before the first placeholder of it. */
  open: Heads<Leaf[]> | undefined
  leaves: Leaf[] | undefined
}

/** Values by a text that they begin with: each length is one look-up. */
interface Heads<V> {
  readonly lengths: number[]
  readonly byHead: Map<string, V>
}

interface Leaf {
  readonly owned: OwnedPattern
  readonly owns: (key: string) => boolean
}

function node(): Node {
  return { literals: undefined, templates: undefined, open: undefined, leaves: undefined }
}

function insert(root: Node, each: OwnedPattern): void {
  const leaf = { owned: each, owns: ownership(each) }
  const pieces = each.pattern.text.split(':')
  const open = pieces.findIndex((piece) => piece.includes('*>'))
  let at = root
  for (const piece of open === -1 ? pieces : pieces.slice(0, open)) at = child(at, piece)
  const leaves = open === -1 ? (at.leaves ??= []) : headed((at.open ??= heads()), pieces[open]!, () => [])
  leaves.push(leaf)
}

/** Where a piece leads to from here. */
function child(at: Node, piece: string): Node {
  if (piece.includes('<')) return headed((at.templates ??= heads()), piece, node)
  return got((at.literals ??= new Map()), piece, node)
}

function heads<V>(): Heads<V> {
  return { lengths: [], byHead: new Map() }
}

function headed<V>({ lengths, byHead }: Heads<V>, piece: string, make: () => V): V {
  const length = piece.indexOf('<')
  if (!lengths.includes(length)) lengths.push(length)
  return got(byHead, piece.slice(0, length), make)
}

function got<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = make()))
  return value
}

/** Whether a key whose pieces fit is of the pattern: where they are plain words and whole placeholders, it is. */
function ownership({ pattern, spec }: OwnedPattern): (key: string) => boolean {
  const isPlain = pattern.params.every((name) => spec.params[name] === undefined)
  if (isPlain && /^(?:[^:<]+|<\w+>|)(?::(?:[^:<]+|<\w+>|))*$/.test(pattern.text)) return () => true
  if (isPlain) return (key) => pattern.parse(key) !== undefined
  const read = keyReader(pattern, spec.params)
  return (key) => read(key) !== undefined
}

function find(at: Node, key: string, from: number): OwnedPattern | undefined {
  const { literals, templates, open } = at
  const colon = key.indexOf(':', from)
  const piece = key.slice(from, colon === -1 ? key.length : colon)

  const literal = literals?.get(piece)
  const exact = literal === undefined ? undefined : below(literal, key, colon)
  if (exact !== undefined) return exact
  if (templates !== undefined) {
    for (const length of templates.lengths) {
      // A placeholder holds one character at the least.
      if (piece.length <= length) continue
      const child = templates.byHead.get(length === 0 ? '' : piece.slice(0, length))
      const found = child === undefined ? undefined : below(child, key, colon)
      if (found !== undefined) return found
    }
  }
  if (open !== undefined) {
    for (const length of open.lengths) {
      // A shorter piece would be taken for a shorter head.
      const found = piece.length < length ? undefined : owner(open.byHead.get(piece.slice(0, length)), key)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function below(child: Node, key: string, colon: number): OwnedPattern | undefined {
  return colon === -1 ? owner(child.leaves, key) : find(child, key, colon + 1)
}

function owner(leaves: readonly Leaf[] | undefined, key: string): OwnedPattern | undefined {
  for (const leaf of leaves ?? []) if (leaf.owns(key)) return leaf.owned
  return undefined
}
