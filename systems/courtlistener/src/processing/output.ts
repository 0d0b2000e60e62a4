import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

import * as v from 'valibot'

import { DocketRecord } from './docket-record.ts'

/** Dockets on disk, a file each. A file is there whole or not at all, whenever the process was killed. */
export interface Output {
  readonly folder: string
  /** Stores a record, in place of an older one; answers the file's path. */
  write(record: DocketRecord): Promise<string>
  /** A stored record; undefined where there is none. Fails with `DamagedRecordError`. */
  read(docketId: string): Promise<DocketRecord | undefined>
  /** What is stored already, each file read and checked. */
  finished(): Promise<Finished>
}

/** What a resumed run need not fetch again, and what it must. */
export interface Finished {
  readonly docketIds: ReadonlySet<string>
  /** Dockets whose file holds something else than a record of that docket: to be fetched again. */
  readonly damaged: readonly string[]
}

/** A file in the output folder that does not hold what its name says. */
export class DamagedRecordError extends Error {
  override readonly name = 'DamagedRecordError'
  readonly code = 'E_DAMAGED_RECORD'
  readonly path: string

  constructor(path: string, cause: unknown) {
    super(`${path} does not hold the docket that its name says; delete it, or let it be fetched again`, {
      cause,
    })
    this.path = path
  }
}

/** Opens a folder of dockets, and makes it where it is not there. Several workers may share one. */
export async function openOutput(folder: string): Promise<Output> {
  await mkdir(folder, { recursive: true })
  await sweep(folder)

  async function read(docketId: string): Promise<DocketRecord | undefined> {
    const path = pathOf(folder, docketId)
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
    try {
      const record = v.parse(DocketRecord, JSON.parse(text))
      if (record.docket_id === docketId) return record
    } catch (cause) {
      throw new DamagedRecordError(path, cause)
    }
    throw new DamagedRecordError(path, new Error('it holds another docket'))
  }

  return {
    folder,
    read,
    async write(record) {
      const path = pathOf(folder, record.docket_id)
      const text = `${JSON.stringify(v.parse(DocketRecord, record), null, 2)}\n`
      // In the same folder, since a rename is atomic only within one file system.
      const temporary = join(folder, `.${record.docket_id}.${randomUUID()}${temporarySuffix}`)
      try {
        await writeThrough(temporary, text)
        await rename(temporary, path)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
      return path
    },
    async finished() {
      const docketIds = new Set<string>()
      const damaged: string[] = []
      for (const name of await readdir(folder)) {
        const docketId = /^([1-9]\d*)\.json$/.exec(name)?.[1]
        if (docketId === undefined) continue
        try {
          if ((await read(docketId)) !== undefined) docketIds.add(docketId)
        } catch (error) {
          if (!(error instanceof DamagedRecordError)) throw error
          damaged.push(docketId)
        }
      }
      return { docketIds, damaged }
    },
  }
}

const temporarySuffix = '.tmp'

function pathOf(folder: string, docketId: string): string {
  if (!/^[1-9]\d{0,15}$/.test(docketId))
    throw new RangeError(`a docket's id is a whole number, not "${docketId}"`)
  return join(folder, `${docketId}.json`)
}

async function writeThrough(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx')
  try {
    await file.writeFile(text)
    // Before the rename: a machine that loses power must not keep the name without the bytes.
    await file.sync()
  } finally {
    await file.close()
  }
}

// What a killed worker left half written. Another worker's file of this minute is left alone.
async function sweep(folder: string): Promise<void> {
  const old = Date.now() - 3_600_000
  for (const name of await readdir(folder)) {
    if (!name.startsWith('.') || !name.endsWith(temporarySuffix)) continue
    const path = join(folder, name)
    const age = await stat(path).catch(() => undefined)
    if (age !== undefined && age.mtimeMs < old) await rm(path, { force: true })
  }
}
