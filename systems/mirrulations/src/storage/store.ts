import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { jsonPath, type Placed } from './layout.ts'
import { safePath, UnsafePathError } from './safe-path.ts'

/** Fetched records on disk. Paths are relative, checked by `safePath`, and a file is there whole or not at all. */
export interface Store {
  readonly root: string
  /** Writes bytes, replacing an older version, and answers how many. A body that fails leaves what was there before. */
  write(path: string, body: string | Uint8Array | AsyncIterable<Uint8Array>): Promise<number>
  /** True when a record is stored as it was last modified: UTC, `YYYY-MM-DD HH:MM:SS`. */
  holds(record: Placed & { readonly lastModified: string }): Promise<boolean>
}

/**
 * A store below `root`, which is made when it is not there. All of it lies on one file system: a file is written to
 * `.incoming` and then renamed. What a killed process left half written there is removed an hour later, at the next opening.
 */
export async function openStore(root: string): Promise<Store> {
  await mkdir(root, { recursive: true })
  const trueRoot = await realpath(root)
  const incoming = join(trueRoot, '.incoming')
  await mkdir(incoming, { recursive: true })
  if ((await realpath(incoming)) !== incoming) {
    throw new UnsafePathError('.incoming', 'a symbolic link leads out of the store')
  }
  await removeOld(incoming)

  return {
    root: trueRoot,
    async write(path, body) {
      const target = safePath(trueRoot, path)
      const folder = dirname(target)
      await mkdir(folder, { recursive: true })
      if (!`${await realpath(folder)}${sep}`.startsWith(`${trueRoot}${sep}`)) {
        throw new UnsafePathError(path, 'a symbolic link leads out of the store')
      }
      // Apart from the records: who reads the mirror never meets a half-written file, even after a kill.
      const temporary = join(incoming, randomUUID())
      try {
        const bytes = await writeAll(temporary, body)
        await rename(temporary, target)
        return bytes
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    },
    async holds(record) {
      const path = safePath(trueRoot, jsonPath(record))
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
        throw error
      })
      return text !== undefined && modifiedIn(text) === record.lastModified
    },
  }
}

async function writeAll(
  path: string,
  body: string | Uint8Array | AsyncIterable<Uint8Array>,
): Promise<number> {
  const chunks = typeof body === 'string' || body instanceof Uint8Array ? [Buffer.from(body)] : body
  const file = createWriteStream(path, { flags: 'wx' })
  await pipeline(Readable.from(chunks, { objectMode: false }), file)
  return file.bytesWritten
}

// An hour, since another process may be writing here now.
async function removeOld(folder: string): Promise<void> {
  const old = Date.now() - 3_600_000
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined && found.mtimeMs < old) await rm(path, { force: true })
  }
}

// The API calls the same moment lastModifiedDate in its lists and modifyDate in full records.
function modifiedIn(text: string): string | undefined {
  try {
    const { data } = JSON.parse(text) as { data?: { attributes?: { modifyDate?: unknown } } }
    const date = data?.attributes?.modifyDate
    return typeof date === 'string' ? date.slice(0, 19).replace('T', ' ') : undefined
  } catch {
    return undefined
  }
}
