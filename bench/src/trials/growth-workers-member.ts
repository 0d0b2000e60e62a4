import { json, open } from 'keyspec'
import { workQueue } from 'keyspec/recipes'
import { createClient } from 'redis'
import { fromNodeRedis } from 'keyspec/node-redis'
import * as v from 'valibot'
import { sharedMs } from '../clock.ts'
import type { Address } from '../job.ts'
import type { Member } from '../member.ts'

const Letter = v.object({ to: v.string(), subject: v.string() })
const letter = { to: 'ada@example.org', subject: 'Hello' }
const AT_ONCE = 100

/** One worker. */
export interface WorkerOptions {
  readonly server: Address
  readonly name: string
  /** How many jobs it adds before all begin. */
  readonly adds: number
}

/** What one worker did. */
export interface Worked {
  readonly from: number
  readonly until: number
  readonly jobs: number
}

/** A worker of one queue, which finishes and takes until nothing is left. */
export const member: Member<WorkerOptions, Worked> = async ({ server, name, adds }) => {
  const client = createClient({ socket: { path: server.socket, tls: false } })
  await client.connect()
  const schema = { jobs: workQueue('bench:jobs', json(Letter), { lease: '30s' }) }
  const queue = open(schema, fromNodeRedis(client)).jobs()
  const letters = Array.from({ length: AT_ONCE }, () => letter)
  for (let added = 0; added < adds; added += AT_ONCE) await queue.add(letters)
  return async () => {
    const from = sharedMs()
    let jobs = 0
    let { taken } = await queue.completeAndTake(name, { take: AT_ONCE })
    while (taken.length > 0) {
      jobs += taken.length
      const completed = taken.map(({ id }) => ({ id, result: null }))
      ;({ taken } = await queue.completeAndTake(name, { completed, take: AT_ONCE }))
    }
    return { from, until: sharedMs(), jobs }
  }
}
