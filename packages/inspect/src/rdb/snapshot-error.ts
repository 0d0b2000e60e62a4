import { KeyspecError } from 'keyspec'

/**
 * Why a snapshot cannot be read: it is no RDB at all, holds what is not known here, ends before its end, its bytes are not
 * those that were written, the server would not send it, or the server cannot be reached or fell silent.
 */
export type SnapshotFault = 'foreign' | 'unknown' | 'truncated' | 'damaged' | 'refused' | 'unreachable'

/** A snapshot that cannot be read to its end; what was read before is not all there is. */
export class SnapshotError extends KeyspecError {
  readonly code = 'E_SNAPSHOT'
  readonly fault: SnapshotFault

  constructor(fault: SnapshotFault, message: string, cause?: unknown) {
    super(message, undefined, cause)
    this.fault = fault
  }
}
