import { createHash } from 'node:crypto'

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { TrendingSource } from './trending-source.ts'

/** How many films trend at once. */
const TRENDING_SIZE = 50

// Films enough to choose from that a day's list differs from the next.
const POOL = 400

/** Calls 50 of the 400 best known films trending, others each day, the same on every machine. */
export function embeddedTrending({ films }: Catalogue, now: () => number = Date.now): TrendingSource {
  const known = films.toSorted((a, b) => (b.votes ?? 0) - (a.votes ?? 0) || a.id - b.id).slice(0, POOL)
  return {
    name: 'embedded:most-voted',
    async fetch() {
      const day = new Date(now()).toISOString().slice(0, 10)
      const drawn = known.map(({ id }) => ({ id, lot: digest(`${day} ${id}`) }))
      return drawn
        .sort((a, b) => (a.lot < b.lot ? -1 : 1))
        .slice(0, TRENDING_SIZE)
        .map(({ id }) => id)
    },
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
