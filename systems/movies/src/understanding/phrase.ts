/** One place in a query where a phrase stands. */
export interface Mention {
  readonly phrase: string
  readonly start: number
  readonly end: number
  /** After "not", "no", "without" and the like. */
  readonly isNegated: boolean
}

/** Where any of the phrases stands in the query as whole words, whatever the case. */
export function mentionsOf(query: string, phrases: readonly string[]): Mention[] {
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${phrases.map(escaped).join('|')})(?![\\p{L}\\p{N}])`,
    'giu',
  )
  return [...query.matchAll(pattern)].map((match) => mentionAt(query, match))
}

/** Where a pattern stands in the query. */
export function mentionAt(query: string, match: RegExpMatchArray): Mention {
  const start = match.index ?? 0
  return {
    phrase: match[0],
    start,
    end: start + match[0].length,
    isNegated: negated.test(query.slice(0, start)),
  }
}

/** The query without what is at these places. */
export function without(query: string, mentions: readonly Pick<Mention, 'start' | 'end'>[]): string {
  let rest = query
  for (const { start, end } of mentions)
    rest = rest.slice(0, start) + ' '.repeat(end - start) + rest.slice(end)
  return rest.replaceAll(/\s+/g, ' ').trim()
}

const negated =
  /(?:^|[^\p{L}])(?:not?|never|without|except|excluding|nothing|anything but|other than|isn['’]t)(?:\s+(?:an?|the|any|by|from|too|very|of))*\s+$/iu

function escaped(phrase: string): string {
  return phrase.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '[\\s-]+')
}
