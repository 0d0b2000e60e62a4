/** What a command may be made of; a number is sent as its decimal text. */
export type RawArgument = string | number | Uint8Array

/** A reply with its strings as text. An error inside an array (EXEC) stays there as an `Error`. */
export type RawReply = string | number | null | Error | RawReply[]

/** A reply with its bulk strings as bytes. */
export type RawBufferReply = Buffer | string | number | null | Error | RawBufferReply[]

/** Encodes a command as an array of bulk strings. */
export function encodeCommand(args: readonly RawArgument[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from(`*${args.length}\r\n`)]
  for (const arg of args) {
    const bytes = arg instanceof Uint8Array ? arg : Buffer.from(String(arg))
    parts.push(Buffer.from(`$${bytes.byteLength}\r\n`), bytes, Buffer.from('\r\n'))
  }
  return Buffer.concat(parts)
}

/** Reads the reply that starts at `at`: its value and where the next one starts, or nothing when bytes are missing. */
export function readReply(buffer: Buffer, at = 0): { value: RawBufferReply; end: number } | undefined {
  const lineEnd = buffer.indexOf('\r\n', at)
  if (lineEnd === -1) return undefined
  const line = buffer.toString('utf8', at + 1, lineEnd)
  const body = lineEnd + 2
  switch (buffer.toString('latin1', at, at + 1)) {
    case '+':
      return { value: line, end: body }
    case '-':
      return { value: new Error(line), end: body }
    case ':':
      return { value: Number(line), end: body }
    case '$':
      return readBulk(buffer, body, Number(line))
    case '*':
      return readArray(buffer, body, Number(line))
    default:
      throw new Error(`Not a RESP2 reply: ${JSON.stringify(buffer.toString('latin1', at, at + 40))}`)
  }
}

function readBulk(buffer: Buffer, at: number, length: number) {
  if (length === -1) return { value: null, end: at }
  if (buffer.length < at + length + 2) return undefined
  return { value: Buffer.from(buffer.subarray(at, at + length)), end: at + length + 2 }
}

function readArray(buffer: Buffer, at: number, length: number) {
  if (length === -1) return { value: null, end: at }
  const value: RawBufferReply[] = []
  let end = at
  for (let i = 0; i < length; i += 1) {
    const item = readReply(buffer, end)
    if (item === undefined) return undefined
    value.push(item.value)
    end = item.end
  }
  return { value, end }
}
