import { createReadStream } from 'node:fs'
import { importKeys, runMigration } from '@keyspec/inspect'
import { moving } from '../move-schema.ts'
import { openClient } from './client.ts'
import type { Address } from './order.ts'

/** The order of a process that migrates or imports, and may be killed. */
export interface MoveOrder {
  readonly address: Address
  readonly prefix: string
  /** The file to import; without it, keys are migrated. */
  readonly file?: string
  /** Whether it forgets the time to live of a key. */
  readonly planted: boolean
}

const order = JSON.parse(process.argv[2]!) as MoveOrder
process.on('disconnect', () => process.exit())
// The harness may have ended while this was loading.
if (!process.connected) process.exit()
process.on('SIGINT', () => {})

const { address, prefix, file, planted } = order
const { connection } = await openClient('node-redis', address)
process.send!({ ready: true })
if (file === undefined) await runMigration(moving, connection, { prefix, maxLoad: 1, count: 10 })
else await importKeys(connection, () => createReadStream(file, { highWaterMark: 512 }), { maxLoad: 1 })
if (planted)
  await connection.send(['PERSIST', `${prefix}${file === undefined ? 'new' : 'old'}:1`], {
    firstKey: 1,
    keyCount: 1,
  })
process.exit(0)
