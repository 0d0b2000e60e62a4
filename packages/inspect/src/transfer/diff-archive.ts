import type { Connection } from 'keyspec'
import { milliseconds } from 'keyspec/extend'
import type { ArchiveRecord } from './archive/archive.ts'
import { keyTable, partOf } from './archive/key-table.ts'
import { stateIn, statesOf } from './archive/key-state.ts'
import { type ArchiveSource, readArchive } from './archive/read.ts'
import { sameValue } from './archive/same-value.ts'
import { decodeKey } from '../match/key-name.ts'
import { decodeDump } from '../rdb/decode-dump.ts'
import { serverTime } from '../scan/replies.ts'
import { findKeys, type Selection } from '../scan/selection.ts'
import { throttle } from '../scan/throttle.ts'
import { type Compared, type Difference, type DiffOptions, judged, settled } from './difference.ts'

/** Compares the keys of the file, then finds those that are only on the server. */
export async function* archiveCompared(
  here: Connection,
  source: ArchiveSource,
  records: number,
  selection: Selection,
  options: DiffOptions,
): AsyncGenerator<Compared> {
  const { maxLoad, signal } = options
  const toleranceMs = milliseconds(options.ttlTolerance ?? '5s')
  const rest = throttle(maxLoad, signal)
  const skewMs = (await serverTime(here)) - Date.now()
  const settle = (key: Buffer, entry: string | undefined, record: ArchiveRecord | undefined) =>
    settled(key, entry, toleranceMs, async () => {
      const [a] = await rest(() => statesOf(here, [key]))
      const b = record === undefined ? undefined : stateIn(record, Date.now() + skewMs)
      return {
        a,
        b,
        same: async (type: string) => {
          const value = record === undefined ? undefined : decodeDump(record.dump)
          return value === undefined ? undefined : sameValue(type, key, here, value)
        },
      }
    })

  for await (const part of readArchive(source)) {
    signal?.throwIfAborted()
    if (!('records' in part)) continue
    const chosen = part.records.filter(({ key }) => isChosen(selection, key))
    for (let from = 0; from < chosen.length; from += STEP) {
      const batch = chosen.slice(from, from + STEP)
      const states = await rest(() =>
        statesOf(
          here,
          batch.map(({ key }) => key),
        ),
      )
      const nowMs = Date.now() + skewMs
      const differences: Difference[] = []
      for (const [index, record] of batch.entries()) {
        if (judged(states[index], stateIn(record, nowMs), toleranceMs).length === 0) continue
        const difference = await settle(Buffer.from(record.key), record.entry, record)
        if (difference !== undefined) differences.push(difference)
      }
      yield { keys: batch.length, differences }
    }
  }

  const parts = Math.max(1, Math.ceil(records / KEYS_AT_A_TIME))
  for (let of = 0; of < parts; of += 1) {
    const known = keyTable(Math.ceil((records / parts) * 1.1))
    for await (const part of readArchive(source)) {
      signal?.throwIfAborted()
      if (!('records' in part)) continue
      for (const { key } of part.records) if (partOf(key, parts) === of) known.add(key)
    }
    for await (const found of findKeys(selection, here, { maxLoad, signal })) {
      const differences: Difference[] = []
      for (const { key, owned } of found) {
        if (partOf(key, parts) !== of || known.has(key)) continue
        const difference = await settle(key, owned?.entry, undefined)
        if (difference !== undefined) differences.push(difference)
      }
      yield { keys: differences.length, differences }
    }
  }
}

const STEP = 100
const KEYS_AT_A_TIME = 2_000_000

function isChosen(selection: Selection, key: Buffer): boolean {
  const name = decodeKey(key)
  if (name !== undefined) return selection.has(name)
  const start = Buffer.from(selection.scanned ?? '')
  return selection.has(undefined) && key.subarray(0, start.length).equals(start)
}
