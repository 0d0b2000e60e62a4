import type { ArchiveHeader } from './archive.ts'

/** Returns the header that these bytes hold, or `undefined` if they hold something else. */
export function decodeHeader(bytes: Buffer): ArchiveHeader | undefined {
  try {
    const read: unknown = JSON.parse(bytes.toString())
    return isHeader(read) ? read : undefined
  } catch {
    return undefined
  }
}

function isHeader(read: unknown): read is ArchiveHeader {
  if (typeof read !== 'object' || read === null) return false
  const found: Partial<Record<string, unknown>> = { ...read }
  const { entries, dumpVersion } = found
  return (
    typeof found['createdAtMs'] === 'number' &&
    TEXTS.every((name) => typeof found[name] === 'string') &&
    (dumpVersion === undefined || typeof dumpVersion === 'number') &&
    Array.isArray(entries) &&
    entries.every((entry) => typeof entry === 'string')
  )
}

const TEXTS = ['keyspec', 'server', 'title', 'prefix', 'schema'] satisfies (keyof ArchiveHeader)[]
