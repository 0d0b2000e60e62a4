import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ArchiveError, type ArchiveSource } from '@keyspec/inspect'
import { exit, FileError, misused } from '../failure.ts'
import { bytesOf } from '../file.ts'

/** Does something with an export that stands in a file; what is wrong with the file is said with its name. */
export async function withArchive<T>(
  file: string,
  cwd: string,
  use: (source: ArchiveSource) => Promise<T>,
): Promise<T> {
  const path = resolve(cwd, file)
  if (!existsSync(path)) throw misused(`there is no ${file}`)
  try {
    return await use(() => bytesOf(path, file, 1024 * 1024))
  } catch (error) {
    if (error instanceof ArchiveError) throw new FileError(`${file}: ${error.message}`, error, exit.findings)
    throw error
  }
}
