import type { Embedder } from '@keyspec-systems/model'

import type { Film } from '../catalogue/film.ts'
import { channels, type Channel } from '../understanding/query-understanding.ts'
import { filmTexts } from './film-text.ts'

/** The seven channels, and the anchor that takes the query as it was written. */
export const vectorChannels = ['anchor', ...channels] as const

/** One of the seven channels, or the anchor. */
export type VectorChannel = 'anchor' | Channel

/** The vectors of all films in all channels. */
export interface VectorIndex {
  readonly dimensions: number
  /** Distinct texts, and so vectors: films that say the same share one. */
  readonly distinct: number
  readonly bytes: number
  /** The cosine of each film, in the order of the films, with a vector of the same embedder. */
  cosines(channel: VectorChannel, vector: Float32Array): Float32Array
}

/** Embeds what the films say, unless the signal ends it; brute force suffices for some thousands of films. */
export async function buildVectorIndex(
  films: readonly Film[],
  embedder: Embedder,
  signal?: AbortSignal,
): Promise<VectorIndex> {
  const rowOf = new Map<string, number>()
  const rows = Object.fromEntries(
    vectorChannels.map((channel) => [channel, new Uint32Array(films.length)]),
  ) as Record<VectorChannel, Uint32Array>
  for (const [at, film] of films.entries()) {
    const texts = filmTexts(film)
    for (const channel of vectorChannels) {
      const text = texts[channel]
      if (!rowOf.has(text)) rowOf.set(text, rowOf.size)
      rows[channel][at] = rowOf.get(text)!
    }
  }
  const { dimensions } = embedder
  const matrix = new Float32Array(rowOf.size * dimensions)
  const texts = [...rowOf.keys()]
  for (let start = 0; start < texts.length; start += BATCH) {
    signal?.throwIfAborted()
    const vectors = await embedder.embed(texts.slice(start, start + BATCH), signal)
    for (const [at, vector] of vectors.entries()) matrix.set(unit(vector), (start + at) * dimensions)
    // An embedder that works in this process would otherwise keep everything else waiting.
    await new Promise((resolve) => void setImmediate(resolve))
  }
  return {
    dimensions,
    distinct: texts.length,
    bytes: matrix.byteLength + vectorChannels.length * films.length * Uint32Array.BYTES_PER_ELEMENT,
    cosines(channel, vector) {
      if (vector.length === dimensions) return cosinesOf(matrix, rows[channel], unit(vector))
      throw new RangeError(
        `A vector of ${vector.length} dimensions does not belong to this index of ${dimensions}`,
      )
    },
  }
}

const BATCH = 256

function cosinesOf(matrix: Float32Array, rows: Uint32Array, vector: Float32Array): Float32Array {
  // A vector of hashed words is mostly zeros, which add nothing.
  const places = Uint32Array.from(vector.keys()).filter((place) => vector[place] !== 0)
  const weights = Float32Array.from(places, (place) => vector[place]!)
  const known = new Float32Array(matrix.length / vector.length).fill(Number.NaN)
  return Float32Array.from(rows, (row) => {
    if (Number.isNaN(known[row])) {
      const start = row * vector.length
      let sum = 0
      for (let at = 0; at < places.length; at += 1) sum += matrix[start + places[at]!]! * weights[at]!
      known[row] = sum
    }
    return known[row]!
  })
}

function inner(matrix: Float32Array, start: number, vector: Float32Array): number {
  let sum = 0
  for (let index = 0; index < vector.length; index += 1) sum += matrix[start + index]! * vector[index]!
  return sum
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(inner(vector, 0, vector))
  return length === 0 ? vector : vector.map((value) => value / length)
}
