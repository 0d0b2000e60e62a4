import { setTimeout as sleep } from 'node:timers/promises'
import { sharedMs } from '../clock.ts'
import type { Address } from '../job.ts'
import type { Member } from '../member.ts'
import { caches, page } from '../peers/caches.ts'

/** Which cache, where, how many ask it at once, and how long a load takes. */
export interface AskerOptions {
  readonly contender: string
  readonly server: Address
  readonly askers: number
  readonly loadMs: number
}

/** When this process loaded and when its askers were served, in ms of the clock that all share. */
export interface Asked {
  readonly loadedAt: readonly number[]
  readonly lastServedAt: number
}

/** One process of a stampede: the word is the key that all its askers ask for. */
export const member: Member<AskerOptions, Asked> = async ({ contender, server, askers, loadMs }) => {
  const getOrLoad = await caches[contender]!.open(server)
  return async (key) => {
    const loadedAt: number[] = []
    const load = async () => {
      loadedAt.push(sharedMs())
      await sleep(loadMs)
      return page
    }
    await Promise.all(Array.from({ length: askers }, () => getOrLoad(key, load)))
    return { loadedAt, lastServedAt: sharedMs() }
  }
}
