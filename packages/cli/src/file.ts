import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { FileError, reason } from './failure.ts'

/** Does something with a file; an error of the file system becomes a `FileError` that names the file as the user did. */
export async function onFile<T>(
  shownAs: string,
  done: 'read' | 'written',
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new FileError(`${shownAs} cannot be ${done}: ${reason(error)}`, error)
  }
}

/** Reads a file of text. */
export function textOf(path: string, shownAs: string): Promise<string> {
  return onFile(shownAs, 'read', () => readFile(path, 'utf8'))
}

/** Writes a file of text. */
export function writeText(path: string, shownAs: string, text: string): Promise<void> {
  return onFile(shownAs, 'written', () => writeFile(path, text))
}

/** Reads a file in pieces of so many bytes, as they are asked for. */
export async function* bytesOf(path: string, shownAs: string, pieceBytes: number): AsyncGenerator<Buffer> {
  const pieces = createReadStream(path, { highWaterMark: pieceBytes })[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { value, done } = await onFile(shownAs, 'read', () => pieces.next())
      if (done === true) return
      yield value as Buffer
    }
  } finally {
    await pieces.return?.()
  }
}
