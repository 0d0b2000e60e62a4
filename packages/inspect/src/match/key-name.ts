import { isUtf8 } from 'node:buffer'

/** The text of a key, or `undefined` where its bytes are no UTF-8: then no pattern can own it. */
export function decodeKey(key: Buffer): string | undefined {
  return isUtf8(key) ? key.toString() : undefined
}

/**
 * A key as people read it, on one line: control characters, backslashes and bytes that are no UTF-8 are escaped as
 * `redis-cli` does (`\n`, `\x00`), so that `unescapeKey` reads it back.
 */
export function escapeKey(key: Buffer | string): string {
  const text = typeof key === 'string' ? key : decodeKey(key)
  if (text !== undefined) return text.replace(UNREADABLE, (char) => SHORT[char] ?? escaped(Buffer.from(char)))
  const bytes = Buffer.from(key)
  // What is plain ASCII stays readable; whatever else is in such a key is bytes.
  return bytes
    .toString('latin1')
    .replace(/[^ -~]|\\/g, (char) => SHORT[char] ?? escaped(Buffer.from(char, 'latin1')))
}

/** The bytes of a key that was written as `escapeKey` shows it. */
export function unescapeKey(text: string): Buffer {
  const pieces = text.split(/(\\x[0-9a-fA-F]{2}|\\[\\nrtab])/)
  return Buffer.concat(
    pieces.map((piece, index) => {
      if (index % 2 === 0) return Buffer.from(piece)
      return piece.startsWith('\\x') ? Buffer.from(piece.slice(2), 'hex') : Buffer.from(LONG.get(piece)!)
    }),
  )
}

// Controls, the marks that reorder or hide text in a terminal, and the backslash itself.
const UNREADABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/gu
const SHORT: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\x07': '\\a',
  '\b': '\\b',
  '\\': '\\\\',
}
const LONG = new Map(Object.entries(SHORT).map(([char, text]) => [text, char]))

function escaped(bytes: Buffer): string {
  return [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')
}
