import { type Form, LENGTH, PIECES, STRING } from './value-form.ts'

/** What stands where the type of a record would, and is none (`RDB_OPCODE_…`, rdb.h). */
export const OPCODE = {
  idle: 0xf8,
  frequency: 0xf9,
  aux: 0xfa,
  sizes: 0xfb,
  expiresMs: 0xfc,
  expiresSeconds: 0xfd,
  database: 0xfe,
  eof: 0xff,
} as const

/** From here on they are opcodes, below it types. */
export const LEAST_OPCODE = 0xf0

/** Those that are passed over, and what follows each. */
export const PASSED_OVER: ReadonlyMap<number, Form> = new Map<number, Form>([
  // A slot of a cluster, and how many keys it has.
  [0xf4, [LENGTH, LENGTH, LENGTH]],
  [0xf5, [STRING]],
  // The same in the candidates of Redis 7.0: name, engine, perhaps a description, code.
  [0xf6, [STRING, STRING, [STRING], STRING]],
  // A module's own: its number, when it is to be read, the rest.
  [0xf7, [LENGTH, LENGTH, LENGTH, PIECES]],
])
