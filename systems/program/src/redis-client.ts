import { createClient } from 'redis'

/** How a system reaches its Redis. */
export interface RedisOptions {
  readonly password?: string | undefined
  /** How long a command may go unanswered. */
  readonly patienceMs: number
  /** Is told why Redis cannot be reached, once for each reason. */
  readonly log?: ((words: string) => void) | undefined
}

/**
 * Returns a client of the Redis at an address (`redis://…` or `unix:///path`), not yet connected. A connection that is lost is
 * made again, for ever, after at most a second; what is asked meanwhile fails at once, so that a caller can say so rather than
 * hang.
 */
export function redisClient(url: string, { password, patienceMs, log }: RedisOptions) {
  const address = url.startsWith('unix:') ? { path: new URL(url).pathname } : undefined
  const reconnectStrategy = (retries: number) =>
    Math.min(1000, 20 * 2 ** Math.min(retries, 6)) * (0.5 + Math.random() / 2)
  const client = createClient({
    ...(address === undefined ? { url } : {}),
    ...(password === undefined ? {} : { password }),
    socket: { ...address, reconnectStrategy, connectTimeout: 5_000 } as {
      reconnectStrategy: typeof reconnectStrategy
    },
    disableOfflineQueue: true,
    commandOptions: { timeout: patienceMs },
  })
  let lastWords = ''
  client.on('error', (error: Error) => {
    // The client says it again at every attempt.
    const words = error.message || error.name
    if (words !== lastWords) log?.(words)
    lastWords = words
  })
  client.on('ready', () => {
    lastWords = ''
  })
  return client
}

/** A client of `redisClient`. */
export type RedisClient = ReturnType<typeof redisClient>

/** Comes back when a client is connected. */
export async function clientReady(client: RedisClient, signal?: AbortSignal): Promise<void> {
  while (!client.isReady) {
    signal?.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
