/** Writes a list of texts as Python's `str(list)` does: `['12345', "it's"]`. */
export function reprList(items: readonly string[]): string {
  return `[${items.map(reprString).join(', ')}]`
}

/** Writes a dict of texts as Python's `str(dict)` does, in the order of its keys: `{'state_key': '…'}`. */
export function reprDict(dict: Readonly<Record<string, string>>): string {
  const entries = Object.entries(dict).map(([key, value]) => `${reprString(key)}: ${reprString(value)}`)
  return `{${entries.join(', ')}}`
}

/**
 * Writes one text as CPython's `repr` does: in single quotes, unless it holds those and no double ones.
 * What Python prints as it is depends on its Unicode tables, so a letter younger than Python's tables comes unescaped here
 * and escaped there; both read the same.
 */
export function reprString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  let body = ''
  // By code points: a lone surrogate is one of its own, and unprintable.
  for (const char of text) body += char === quote || char === '\\' ? `\\${char}` : shown(char)
  return quote + body + quote
}

const named: ReadonlyMap<string, string> = new Map([
  ['\n', String.raw`\n`],
  ['\r', String.raw`\r`],
  ['\t', String.raw`\t`],
])

// The categories of str.isprintable: others, and separators except the space.
const unprintable = /[\p{C}\p{Z}]/u

function shown(char: string): string {
  if (char === ' ' || !unprintable.test(char)) return char
  const name = named.get(char)
  if (name !== undefined) return name
  const hex = (char.codePointAt(0) as number).toString(16)
  if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}
