import { decodeKey } from '../match/key-name.ts'
import type { KeyFacts } from '../scan/scan.ts'

/**
 * A key as it stands in a snapshot. Its name and its bytes are copied out when they are asked for: most never are, and who
 * keeps them should not keep the piece of the snapshot around them.
 */
export class SnapshotKey implements KeyFacts {
  readonly type: string
  /** As the server would keep it after reading the snapshot. */
  readonly encoding: string
  /** The time it had left when the snapshot was taken, in ms, or `'forever'`. */
  readonly ttlMs: number | 'forever'
  /** How long nobody had used it, in ms, where the server said so: under an LRU policy. */
  readonly idleMs: number | undefined
  /** The number of its type in the format. */
  readonly form: number
  /** What it takes in the snapshot: time to live, type, key and value. Not what it takes in memory. */
  bytes = 0

  readonly #around: Buffer
  readonly #from: number
  readonly #to: number
  #name: string | undefined
  #named = false
  #valueAround: Buffer | undefined
  #valueFrom = 0
  #valueTo = 0

  constructor(
    form: number,
    type: string,
    encoding: string,
    ttlMs: number | 'forever',
    idleMs: number | undefined,
    around: Buffer,
    from: number,
    to: number,
  ) {
    this.type = type
    this.encoding = encoding
    this.form = form
    this.ttlMs = ttlMs
    this.idleMs = idleMs
    this.#around = around
    this.#from = from
    this.#to = to
  }

  get key(): Buffer {
    return Buffer.from(this.#around.subarray(this.#from, this.#to))
  }

  get name(): string | undefined {
    if (!this.#named) {
      this.#named = true
      this.#name = isAscii(this.#around, this.#from, this.#to)
        ? this.#around.toString('latin1', this.#from, this.#to)
        : decodeKey(this.#around.subarray(this.#from, this.#to))
    }
    return this.#name
  }

  /** Its value as it stands in the snapshot, or the beginning of a large one; `undefined` where values are not kept. */
  get stored(): Buffer | undefined {
    return this.#valueAround?.subarray(this.#valueFrom, this.#valueTo)
  }

  /** Notes where its value is. */
  keep(around: Buffer, from: number, to: number): void {
    this.#valueAround = around
    this.#valueFrom = from
    this.#valueTo = to
  }
}

function isAscii(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at]! > 0x7f) return false
  return true
}
