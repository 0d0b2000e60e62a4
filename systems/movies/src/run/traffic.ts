/** What visitors did, and how long they waited. */
export interface TrafficReport {
  readonly requests: number
  /** Those that were not answered 200. */
  readonly failures: number
  readonly medianMs: number
  readonly p99Ms: number
  readonly seconds: number
}

/** Visitors that search and look at what they found. */
export interface TrafficOptions {
  readonly url: string
  readonly visitors: number
  readonly durationMs: number
  readonly signal: AbortSignal
  readonly random?: () => number
}

/**
 * Visitors that come at once: each searches, mostly for what is searched often, and opens the first or second film found.
 * So the first seconds are misses, many of them for the same keys, and the rest is hits.
 */
export async function traffic(options: TrafficOptions): Promise<TrafficReport> {
  const { url, visitors, durationMs, signal, random = Math.random } = options
  const latencies: number[] = []
  const startedAt = performance.now()
  let failures = 0

  async function get(path: string): Promise<unknown> {
    const askedAt = performance.now()
    try {
      const response = await fetch(url + path, { signal })
      const body: unknown = await response.json()
      latencies.push(performance.now() - askedAt)
      if (response.ok) return body
      failures += 1
    } catch {
      if (!signal.aborted) failures += 1
    }
    return undefined
  }

  async function visitor(): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      if (turn >= LEAST_TURNS && performance.now() - startedAt >= durationMs) return
      // The power makes the front of the list popular.
      const query = queries[Math.floor(random() ** 3 * queries.length)]!
      const found = (await get(`/search?q=${encodeURIComponent(query)}`)) as Results | undefined
      const film = found?.results[random() < 0.7 ? 0 : 1]
      if (film !== undefined && !signal.aborted) await get(`/movie/${film.movieId}`)
    }
  }

  await Promise.all(Array.from({ length: visitors }, visitor))
  latencies.sort((a, b) => a - b)
  return {
    requests: latencies.length,
    failures,
    medianMs: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    seconds: (performance.now() - startedAt) / 1000,
  }
}

// Also on a slow machine the later ones are to find what the first ones left.
const LEAST_TURNS = 5

interface Results {
  readonly results: readonly { readonly movieId: number }[]
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0
}

const genres = ['comedies', 'thrillers', 'westerns', 'dramas', 'horror films', 'musicals', 'action films']
const directors = ['Steven Spielberg', 'Martin Scorsese', 'Woody Allen', 'Ridley Scott', 'Tim Burton']

const queries: readonly string[] = [
  'trending comedies',
  'It',
  'Star Wars',
  'funny films for the whole family',
  'what is trending now',
  ...genres.flatMap((genre) => [`${genre} from the 90s`, `short ${genre}`, `trending ${genre}`]),
  ...directors.flatMap((name) => [`films by ${name}`, `thrillers by ${name} from the 90s`]),
  ...genres.flatMap((genre) => directors.map((name) => `${genre} by ${name}`)),
]
