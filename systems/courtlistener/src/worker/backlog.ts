import { isUnavailable } from 'keyspec'

/** What is to be told to Redis, and waits while it cannot be reached. */
export interface Backlog {
  /** Does it, or keeps it for later where Redis is away; each other error is its own. */
  tell(what: () => Promise<unknown>): Promise<void>
  /** Does what waits; answers how much still does. */
  settle(): Promise<number>
}

/** A backlog in the order told. What is told must bear being done twice: an answer may have been lost. */
export function backlog(): Backlog {
  const waiting: (() => Promise<unknown>)[] = []
  let settling: Promise<number> | undefined

  async function settleAll(): Promise<number> {
    try {
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        await next()
        waiting.shift()
      }
    } catch (error) {
      if (!isUnavailable(error)) {
        waiting.shift()
        throw error
      }
    }
    return waiting.length
  }

  const settle = () => (settling ??= settleAll().finally(() => (settling = undefined)))
  return {
    async tell(what) {
      waiting.push(what)
      await settle()
    },
    settle,
  }
}
