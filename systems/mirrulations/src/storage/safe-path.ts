import { isAbsolute, join } from 'node:path'

/** A path that would leave the store, or that no file of the store has. */
export class UnsafePathError extends Error {
  override readonly name = 'UnsafePathError'
  readonly code = 'E_UNSAFE_PATH'
  /** The path as it was given, which may come from a stranger. */
  readonly path: string

  constructor(path: string, why: string) {
    super(`${JSON.stringify(path.slice(0, 200))} is not a path inside the store: ${why}`)
    this.path = path
  }
}

/**
 * Where a relative path stands below `root`. Refuses with `UnsafePathError` what is absolute or climbs, holds NUL or any
 * character but letters, digits and `. _ - ( )`, has an empty, hidden or overlong part, or more parts than the layout has.
 */
export function safePath(root: string, path: string): string {
  if (path === '') throw new UnsafePathError(path, 'it is empty')
  if (isAbsolute(path) || /^[A-Za-z]:|^\\/.test(path)) throw new UnsafePathError(path, 'it is absolute')
  const parts = path.split('/')
  if (parts.length > deepest) throw new UnsafePathError(path, `it has more than ${deepest} parts`)
  for (const part of parts) {
    if (part === '') throw new UnsafePathError(path, 'a part of it is empty')
    // A leading dot covers "." and "..", and keeps the store's own temporary files apart.
    if (part.startsWith('.'))
      throw new UnsafePathError(path, `the part ${JSON.stringify(part)} begins with a dot`)
    if (!/^[A-Za-z0-9._()-]+$/.test(part)) {
      throw new UnsafePathError(path, 'only letters, digits and . _ - ( ) may stand in it')
    }
    if (part.length > 200) throw new UnsafePathError(path, 'a part of it is longer than 200 characters')
  }
  return join(root, ...parts)
}

/**
 * The relative path in what a client names as its `directory`. Clients of the first generation wrote it from the store's
 * root, `/EPA/EPA-1/text-EPA-1/docket/EPA-1.json`; of absolute paths only those of that form are taken.
 */
export function relativeDirectory(directory: string): string {
  const [, agency, docket, branch] = directory.split('/')
  const isLayout = directory.startsWith('/') && agency !== '' && docket !== undefined && docket !== ''
  return isLayout && (branch === `text-${docket}` || branch === `binary-${docket}`)
    ? directory.slice(1)
    : directory
}

// <agency>/<docket>/text-<docket>/comments_extracted_text/<tool>/<file> is the deepest path of the layout.
const deepest = 6
