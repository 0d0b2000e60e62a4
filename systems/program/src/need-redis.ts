import { createClient, ErrorReply } from 'redis'

const ATTEMPT_EVERY_MS = 100
// The last attempt, too, has time to learn why it fails.
const ATTEMPT_MS = 500

/** Where a Redis is, in words for people: its address without a password. */
export function redisName(url: string): string {
  const { protocol, host, pathname } = addressOf(url)
  return protocol === 'unix:' ? pathname : host
}

/**
 * Comes back when the Redis at an address (`redis://…`, `rediss://…`, `unix:///path`) answers. Where it has not within
 * `patienceMs` (3,000 unless told), or refuses, an `Error` says so in one line, without a password.
 */
export async function needRedis(
  url: string,
  {
    password,
    signal,
    patienceMs = 3_000,
  }: {
    readonly password?: string | undefined
    readonly signal?: AbortSignal
    readonly patienceMs?: number
  } = {},
): Promise<void> {
  const name = redisName(url)
  const until = performance.now() + patienceMs
  const atLeastMs = Math.min(patienceMs, ATTEMPT_MS)
  for (;;) {
    signal?.throwIfAborted()
    try {
      await ask(url, password, Math.max(atLeastMs, until - performance.now()))
      return
    } catch (error) {
      const isRefusal = error instanceof ErrorReply && !error.message.startsWith('LOADING')
      if (isRefusal || performance.now() + ATTEMPT_EVERY_MS >= until) {
        throw new Error(
          `The Redis at ${name} ${isRefusal ? 'refuses' : 'cannot be reached'}: ${wordsOf(error)}`,
          {
            cause: error,
          },
        )
      }
    }
    await new Promise((resolve) => setTimeout(resolve, ATTEMPT_EVERY_MS))
  }
}

async function ask(url: string, password: string | undefined, patienceMs: number): Promise<void> {
  const { protocol, pathname } = addressOf(url)
  const isPath = protocol === 'unix:'
  const socket = { reconnectStrategy: false, connectTimeout: patienceMs } as const
  const client = createClient({
    ...(isPath ? {} : { url }),
    ...(password === undefined ? {} : { password }),
    socket: isPath ? { ...socket, path: pathname } : socket,
  })
  client.on('error', () => {})
  let timer: NodeJS.Timeout | undefined
  // One that accepts a connection and then says nothing is no Redis either.
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${Math.ceil(patienceMs)} ms`)), patienceMs)
  })
  try {
    await Promise.race([client.connect().then(() => client.ping()), silence])
  } finally {
    clearTimeout(timer)
    client.destroy()
  }
}

function addressOf(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address === undefined || !['redis:', 'rediss:', 'unix:'].includes(address.protocol)) {
    throw new Error(
      'REDIS_URL is no address of a Redis: redis://host:port, rediss://host:port or unix:///path',
    )
  }
  return address
}

// That of several addresses that all failed has a code and no words.
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
