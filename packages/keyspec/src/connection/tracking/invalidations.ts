/** What becomes of a connection that tells which keys change. */
export interface InvalidationsListener {
  /** There is a connection, new and without any tracking. */
  connected(): void
  /** The connection is gone: nothing is told any more. */
  lost(): void
  /** A key was written, deleted or has expired; `undefined`: any key may have been. */
  changed(key: string | undefined): void
}

/**
 * The third port, for near copies: a connection in tracking mode (`CLIENT TRACKING ON BCAST`), over which Redis tells which
 * keys change. https://redis.io/docs/latest/develop/reference/client-side-caching/
 */
export interface Invalidations {
  /** Tells the listener from now on, and at once where there is a connection already. */
  listen(listener: InvalidationsListener): void
  /**
   * Has the server tell of every key that begins with one of these, none of which begins another, over the connection
   * there is now; in place of what it told before. Gives the `run_id` of that server once it does.
   */
  track(prefixes: readonly string[]): Promise<string>
  /** Answered by the server over the same connection, behind all that it had told before. */
  ping(): Promise<unknown>
}

/** The `run_id` in what INFO answers: another after each start of a server, and on each server. */
export function runIdIn(info: unknown): string {
  const runId = /^run_id:(\w+)/m.exec(String(info))?.[1]
  if (runId === undefined) throw new TypeError('what INFO answered names no run_id')
  return runId
}
