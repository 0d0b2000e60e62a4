import { setTimeout as sleep } from 'node:timers/promises'
import { sharedMs } from '../clock.ts'
import { nearCaches } from '../jobs/cache-near-peers.ts'
import type { Address } from '../job.ts'
import type { Member } from '../member.ts'
import { page } from '../peers/caches.ts'

/** Which cache, where, and what this process does with the key that both know. */
export interface CoherenceOptions {
  readonly contender: string
  readonly server: Address
  readonly role: 'read' | 'write'
  readonly patienceMs: number
}

/** When the new value was read, or its write answered, on the clock that all share; absent where it never was. */
export interface Moments {
  readonly at: number | undefined
}

const KEY = 'shared'

/** The version that both begin with. */
export const FIRST = '0'

/** The reader has its copy by then. */
const BEFORE_WRITING_MS = 50

/** One of two processes; the word is the version that one writes and the other waits for. */
export const member: Member<CoherenceOptions, Moments> = async ({ contender, server, role, patienceMs }) => {
  const { get, set } = await nearCaches[contender]!.open(server)
  if (role === 'write') {
    return async (version) => {
      await sleep(BEFORE_WRITING_MS)
      await set(KEY, { ...page, title: version })
      return { at: sharedMs() }
    }
  }
  return async (version) => {
    // Nobody is to keep that it is not there.
    if (version === FIRST) await sleep(patienceMs)
    const until = sharedMs() + BEFORE_WRITING_MS + patienceMs
    while (sharedMs() < until) {
      const found = await get(KEY)
      if (found?.title === version) return { at: sharedMs() }
      await sleep(1)
    }
    return { at: undefined }
  }
}
