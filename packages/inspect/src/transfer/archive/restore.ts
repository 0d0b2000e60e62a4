import { type Connection, KeyspecError, ServerError } from 'keyspec'
import {
  arrayReply,
  decodeReply,
  flag,
  integerReply,
  ONE_KEY,
  type Reply,
  script,
  textArgument as text,
} from 'keyspec/extend'
import { decodeKey, escapeKey } from '../../match/key-name.ts'
import { serverTime } from '../../scan/replies.ts'
import { dumpVersionOf } from './archive.ts'
import { PACKED_HEAD } from './dump.ts'
import * as lua from './lua.gen.ts'

/** An import or a copy that cannot be done as it was asked for. */
export class ImportError extends KeyspecError {
  readonly code = 'E_IMPORT'
}

/** A key as it is to be written. */
export interface Restorable {
  readonly key: Buffer
  /** Its text, where that is known. */
  readonly name?: string | undefined
  readonly expiresAtMs: number | undefined
  readonly dump: Buffer
}

/**
 * Writes keys, each with the expiry it had; gives those that were there and stayed, since nothing was to be replaced.
 * In one script; on a cluster, or for a user who may run none, in a command for each.
 */
export async function restoreKeys(
  connection: Connection,
  records: readonly Restorable[],
  replace: boolean,
): Promise<readonly Buffer[]> {
  if (records.length === 0) return []
  if (connection.cluster) return restoreEach(connection, records, replace)
  let failed: readonly Reply[]
  try {
    const keys = records.map(({ key, name }) => name ?? decodeKey(key) ?? key)
    failed = await restoreScript.run(connection, { keys }, { replace, packed: packed(records) })
  } catch (error) {
    if (!(error instanceof ServerError && error.reply.startsWith('NOPERM'))) throw error
    return restoreEach(connection, records, replace)
  }
  const kept: Buffer[] = []
  for (let at = 0; at < failed.length; at += 2) {
    const record = records[decodeReply(integerReply, failed[at]!) - 1]!
    const said = String(failed[at + 1])
    if (!isBusy(said)) throw refused(record, new ServerError(said, 'RESTORE', escapeKey(record.key)))
    kept.push(record.key)
  }
  return kept
}

/** Restores a value that has expired since long under a name of nobody's: all is checked, and nothing is written. */
export async function tryOut(connection: Connection, key: Buffer, dump: Buffer): Promise<void> {
  const nobody = Buffer.concat([key, Buffer.from(`:${Math.random().toString(36).slice(2)}`)])
  await restoreEach(connection, [{ key: nobody, expiresAtMs: 1, dump }], false)
}

/** The server's clock, as far as it can be told from here without asking each time. */
export async function serverClock(connection: Connection): Promise<() => number> {
  const then = await serverTime(connection)
  const from = performance.now()
  return () => then + (performance.now() - from)
}

/** Whether a key has expired by then: REPLACE would delete what it finds in its place. */
export function isPast({ expiresAtMs }: Restorable, nowMs: number): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs
}

const restoreScript = script('inspect/restore', {
  keys: ['keys*'],
  args: { replace: flag, packed: text },
  lua: lua.restore,
  commands: ['RESTORE'],
  reply: arrayReply,
})

/** The text that restore.lua reads. */
function packed(records: readonly Restorable[]): Buffer {
  const bytes = Buffer.allocUnsafe(records.reduce((sum, { dump }) => sum + PACKED_HEAD + dump.length, 0))
  let at = 0
  for (const { expiresAtMs = 0, dump } of records) {
    bytes.writeDoubleLE(expiresAtMs, at)
    bytes.writeUInt32LE(dump.length, at + 8)
    bytes.set(dump, at + PACKED_HEAD)
    at += PACKED_HEAD + dump.length
  }
  return bytes
}

async function restoreEach(
  connection: Connection,
  records: readonly Restorable[],
  replace: boolean,
): Promise<Buffer[]> {
  const done = await Promise.all(
    records.map(async (record) => {
      const { key, expiresAtMs = 0, dump } = record
      const command = ['RESTORE', key, String(expiresAtMs), dump, 'ABSTTL', ...(replace ? ['REPLACE'] : [])]
      try {
        await connection.send(command, ONE_KEY)
        return []
      } catch (error) {
        if (!(error instanceof ServerError)) throw error
        if (isBusy(error.reply)) return [key]
        throw refused(record, error)
      }
    }),
  )
  return done.flat()
}

function isBusy(said: string): boolean {
  return said.startsWith('BUSYKEY')
}

function refused({ key, dump }: Restorable, error: ServerError): KeyspecError {
  if (!/payload version or checksum|Bad data format/.test(error.reply)) return error
  return new ImportError(
    `${escapeKey(key)}: this server cannot read the value, which was dumped in version ${dumpVersionOf(dump)}: ` +
      `it is older than the one it comes from, or lacks a module`,
    escapeKey(key),
    error,
  )
}
