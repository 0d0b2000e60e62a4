import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Mirrulations } from '../keyspace.ts'

/**
 * Tokens that prove who a client is and which jobs it was given: HMAC-SHA-256 (RFC 2104) of what they stand for, under a
 * secret that all work servers of one Redis share. None is stored, and all are void once that Redis has been emptied.
 */
export class Capabilities {
  readonly #secret: string

  private constructor(secret: string) {
    this.#secret = secret
  }

  /** By the secret in Redis, which is made where there is none. */
  static async read(keys: Mirrulations): Promise<Capabilities> {
    const secret = keys.clientSecret()
    const found = await secret.get()
    if (found !== undefined) return new Capabilities(found)
    await secret.setIfAbsent(randomBytes(32).toString('base64url'))
    return new Capabilities((await secret.get())!)
  }

  /** That its bearer is this client. */
  ofClient(client: string): string {
    return this.#token('client', client)
  }

  /** That its bearer was given this job as this client. */
  ofLease(client: string, job: string): string {
    return this.#token('lease', client, job)
  }

  #token(...meant: readonly string[]): string {
    return createHmac('sha256', this.#secret).update(JSON.stringify(meant)).digest('base64url')
  }
}

/** Whether a token is the one that was given out, in a time that does not tell how much of it is right. */
export function isToken(given: string, real: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(real)]
  return a.length === b.length && timingSafeEqual(a, b)
}
