import { Problem } from '@keyspec-systems/program/http'

/** Does no more than so many of these at once; one more is answered 503, to be asked again. */
export function atMost(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let doing = 0
  return async (work) => {
    if (doing >= most)
      throw new Problem(503, 'The service has enough to do', { headers: { 'Retry-After': '1' } })
    doing += 1
    try {
      return await work()
    } finally {
      doing -= 1
    }
  }
}

/** Waits for what arrives, and no longer; then it is answered 408. */
export async function within<T>(ms: number, arriving: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Problem(408, 'The body took too long to arrive')), ms)
  })
  try {
    return await Promise.race([arriving, late])
  } finally {
    clearTimeout(timer)
  }
}
