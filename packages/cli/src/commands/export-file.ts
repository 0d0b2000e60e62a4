import { statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { misused } from '../failure.ts'
import { onFile } from '../file.ts'

/** A file that takes its name when it is whole, and not before. */
export interface WholeFile {
  write(bytes: Buffer): Promise<void>
  /** All is written: the file takes its name. */
  finish(): Promise<void>
  /** It is not to be: what was written goes. */
  discard(): Promise<void>
}

/** Begins a file as `FILE.part`; refuses where FILE is there and must not be replaced. */
export async function wholeFile(path: string, force: boolean): Promise<WholeFile> {
  const refuse = () => {
    const there = statSync(path, { throwIfNoEntry: false })
    if (there === undefined) return
    // A rename would put the file in its place.
    if (!there.isFile()) throw misused(`${path} is no file: give another, or --out - for standard output`)
    if (!force) throw misused(`${path} is there already; --force replaces it`)
  }
  refuse()
  const part = `${path}.part`
  // Values may be nobody else's business.
  const file = await onFile(part, 'written', () => open(part, 'w', 0o600))
  return {
    write: (bytes) => onFile(part, 'written', () => file.writeFile(bytes)),
    async finish() {
      await onFile(part, 'written', async () => {
        await file.sync()
        await file.close()
      })
      refuse()
      await onFile(path, 'written', () => rename(part, path))
    },
    async discard() {
      await file.close()
      await rm(part, { force: true })
    },
  }
}
