/**
 * Undoes the commonest damage in the data: text of Windows-1252 that was once read as Mac OS Roman, so that "Léon"
 * became "LÈon". A text with any character that Mac OS Roman lacks never took that way and stays as it is.
 */
export function repaired(text: string): string {
  const bytes = [...text].map((character) => byteOf.get(character))
  if (bytes.some((byte) => byte === undefined)) return text
  return latin.decode(Uint8Array.from(bytes as number[]))
}

const latin = new TextDecoder('windows-1252')
const macintosh = new TextDecoder('macintosh')

const byteOf = new Map(
  Array.from({ length: 256 }, (_, byte) => [macintosh.decode(Uint8Array.of(byte)), byte] as const),
)
