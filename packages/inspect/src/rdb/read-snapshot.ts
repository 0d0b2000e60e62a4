import type { SnapshotParser } from './parser.ts'
import { SnapshotError } from './snapshot-error.ts'
import type { SnapshotKey } from './snapshot-key.ts'

/** The keys of a snapshot in batches, as its bytes come. Where it does not go on, nothing may follow it. */
export async function* readSnapshot(
  source: AsyncIterable<Uint8Array>,
  parser: SnapshotParser,
  goesOn = false,
): AsyncGenerator<readonly SnapshotKey[]> {
  let pieces: Uint8Array[] = []
  let gathered = 0
  let isWhole = false
  for await (const piece of source) {
    if (piece.length === 0) continue
    if (isWhole) throw followed()
    pieces.push(piece)
    gathered += piece.length
    // A connection may stay open behind the end, and the parser asks for more than it needs.
    if (!goesOn && gathered < parser.missing) continue
    isWhole = yield* parsed(pieces)
    if (isWhole && goesOn) return
    pieces = []
    gathered = 0
  }
  // It may have asked for more than it needs.
  if (!isWhole && gathered > 0) isWhole = yield* parsed(pieces)
  if (isWhole) return
  const { bytes } = parser.facts
  throw new SnapshotError(
    'truncated',
    bytes === 0
      ? 'this is no snapshot: it is empty'
      : `the snapshot ends before it is whole, after ${bytes} bytes`,
  )

  /** Reads these bytes too; answers whether they hold the end. */
  function* parsed(more: readonly Uint8Array[]): Generator<readonly SnapshotKey[], boolean> {
    parser.append(more)
    for (;;) {
      const stop = parser.parse()
      const keys = parser.take()
      if (keys.length > 0) yield keys
      if (stop === 'bytes') return false
      if (stop === 'end') {
        if (!goesOn && parser.rest.length > 0) throw followed()
        return true
      }
    }
  }
}

function followed(): SnapshotError {
  return new SnapshotError(
    'damaged',
    'something follows the end of the snapshot: where it is an append-only file, what was written since stands there, ' +
      'and is not read',
  )
}
