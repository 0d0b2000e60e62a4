/**
 * Undoes the commonest damage in the data: text of Windows-1252 that was once read as Mac OS Roman, so that "Léon"
 * became "LÈon". A text with any character that Mac OS Roman lacks never took that way and stays as it is.
 */
export function repaired(text: string): string {
  const bytes = text.split('').map((character) => byteOf.get(character))
  if (bytes.some((byte) => byte === undefined)) return text
  return bytes.map((byte) => characterOf(byte!)).join('')
}

const macintosh = new TextDecoder('macintosh')

const byteOf = new Map(
  Array.from({ length: 256 }, (_, byte) => [macintosh.decode(Uint8Array.of(byte)), byte] as const),
)

// Windows-1252 is Latin-1 but for these; Node's own decoder of that name leaves them out.
const from0x80 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

function characterOf(byte: number): string {
  return from0x80[byte - 0x80] ?? String.fromCharCode(byte)
}
