/** The number of keys, and their bytes. */
export interface Sum {
  readonly keys: number
  readonly bytes: number
}

/** The sum of the keys of one entry. */
export interface EntrySum extends Sum {
  /** The path of the entry; `undefined` for the keys that no entry owns. */
  readonly entry: string | undefined
}

/** The sum of the keys of one Redis type. */
export interface TypeSum extends Sum {
  readonly type: string
}

/** Adds a key of so many bytes to the sum of its name. */
export function addKey<K>(sums: Map<K, Sum>, name: K, bytes: number): void {
  const sum = sums.get(name) ?? { keys: 0, bytes: 0 }
  sums.set(name, { keys: sum.keys + 1, bytes: sum.bytes + bytes })
}
