import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { open } from 'keyspec'
import { exportKeys, selectKeys } from '@keyspec/inspect'
import { openClient } from '../actor/client.ts'
import type { MoveOrder } from '../actor/move.ts'
import { pause } from '../clock.ts'
import type { Moved } from '../model/move-whole.ts'
import { after, before, MOVED_TTL_MS } from '../move-schema.ts'
import type { Fault, Scene } from './fault.ts'

const KEYS = 300
const IDS = Array.from({ length: KEYS }, (_, id) => ({ id: `${id}` }))
const VALUES = IDS.map(({ id }) => `value ${id}`)
let moves = 0

/** Kills a migration with SIGKILL, anywhere, and runs it again to its end. */
export const killMigration: Fault = {
  name: 'kill-migration',
  inflict: (scene) => move(scene, 'migrate'),
}

/** Kills an import with SIGKILL, anywhere, and runs it again to its end. */
export const killImport: Fault = {
  name: 'kill-import',
  inflict: (scene) => move(scene, 'import'),
}

async function move(scene: Scene, verb: 'migrate' | 'import'): Promise<void> {
  const { topology, record, random, folder, plants } = scene
  const prefix = `move${(moves += 1)}:`
  const { connection, close } = await openClient('node-redis', topology.address)
  try {
    const old = open(before, connection, { prefix })
    const filled = Date.now()
    await Promise.all(IDS.map((params, at) => old.page(params).set(VALUES[at]!)))
    const order: MoveOrder = {
      address: topology.address,
      prefix,
      planted: plants.includes('move-whole'),
      ...(verb === 'import' ? { file: join(folder, `${prefix.slice(0, -1)}.export`) } : {}),
    }
    if (order.file !== undefined) {
      const steps = exportKeys(connection, selectKeys(before, { prefix }), {
        schema: before,
        prefix,
        keyspec: 'torture',
        maxLoad: 1,
      })
      await pipeline(
        Readable.from(steps).map(({ bytes }: { bytes: Buffer }) => bytes),
        createWriteStream(order.file),
      )
      await Promise.all(IDS.map((params) => old.page(params).delete()))
    }
    await record({ recipe: 'move', verb, key: prefix }, async () => {
      await runOnce(order, random.whole(0, 60))
      await runOnce(order)
      const kept = verb === 'import' ? old : open(after, connection, { prefix })
      return judged(kept.page, filled)
    })
  } finally {
    close()
  }
}

/** Starts the move and kills it after `killAfterMs`, or waits until it has ended well. */
async function runOnce(order: MoveOrder, killAfterMs?: number): Promise<void> {
  const program = join(import.meta.dirname, 'move.js')
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit') as Promise<[number | null]>
  if (killAfterMs !== undefined) {
    await Promise.race([once(child, 'message'), ended])
    await pause(killAfterMs)
    child.kill('SIGKILL')
  }
  const [code] = await ended
  if (killAfterMs === undefined && code !== 0) throw new Error(`the ${order.prefix} move ended with ${code}`)
}

interface Pages {
  (params: { id: string }): {
    get(): Promise<string | undefined>
    ttlMs(): Promise<number | 'forever' | undefined>
  }
}

/** Reads all pages that were written after `filled`, a time of day. */
async function judged(page: Pages, filled: number): Promise<Moved> {
  const found = await Promise.all(
    IDS.map(async (params) => ({ value: await page(params).get(), ttlMs: await page(params).ttlMs() })),
  )
  // The reads may have taken long, so the time that has passed is taken after them.
  const least = MOVED_TTL_MS - (Date.now() - filled) - 1000
  return {
    keys: KEYS,
    missing: found.filter(({ value }, at) => value !== VALUES[at]).length,
    lifetimes: found.filter(
      ({ value, ttlMs }) =>
        value !== undefined && !(typeof ttlMs === 'number' && ttlMs >= least && ttlMs <= MOVED_TTL_MS),
    ).length,
  }
}
