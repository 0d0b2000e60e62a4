import type { Command } from '../connection.ts'

/** The command with its bytes as `Buffer`s, which the clients insist on; the same memory, and mostly the same array. */
export function withBuffers(command: Command): (string | Buffer)[] {
  for (const argument of command) {
    if (typeof argument !== 'string' && !(argument instanceof Buffer)) return command.map(withBuffer)
  }
  return command as (string | Buffer)[]
}

function withBuffer(argument: string | Uint8Array): string | Buffer {
  if (typeof argument === 'string' || argument instanceof Buffer) return argument
  return Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength)
}
