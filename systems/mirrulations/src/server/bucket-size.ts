import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The bytes of all files below a folder, hidden ones left out; what goes while it is measured does not count. */
export async function bucketSize(folder: string): Promise<number> {
  const isGone = (error: NodeJS.ErrnoException) => error.code === 'ENOENT'
  let bytes = 0
  const entries = await readdir(folder, { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException): Dirent[] => {
      if (isGone(error)) return []
      throw error
    },
  )
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await bucketSize(path)
    else if (entry.isFile()) {
      const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
        if (isGone(error)) return undefined
        throw error
      })
      bytes += found?.size ?? 0
    }
  }
  return bytes
}
