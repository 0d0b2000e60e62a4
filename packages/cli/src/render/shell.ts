/** A word as a POSIX shell reads it back, whatever it holds. */
export function shellWord(word: string): string {
  if (word === '') return '""'
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

/** A key as a word of `keyspec`: what begins with a dash is no option. */
export function keyOperand(key: string): string {
  return key.startsWith('-') ? `-- ${shellWord(key)}` : shellWord(key)
}

/** An option of `keyspec` with its value, as words: a value that begins with a dash is no option. */
export function optionWords(option: string, value: string): string[] {
  return value.startsWith('-') ? [`--${option}=${value}`] : [`--${option}`, value]
}

/**
 * A line of redis-cli, for the server that the words `to` lead to. `key` is text as `escapeKey` shows it: where that has escapes, redis-cli is told to read its words
 * as its own prompt would.
 */
export function redisCli(
  command: readonly string[],
  { key, to = [] }: { readonly key?: string; readonly to?: readonly string[] } = {},
): string {
  const words = key === undefined ? command : [...command, key]
  if (key?.includes('\\') !== true) return ['redis-cli', ...to, ...words].map(shellWord).join(' ')
  const quoted = words.map((word, at) =>
    at < command.length ? word : `"${word.replaceAll('"', String.raw`\"`)}"`,
  )
  return ['redis-cli', ...to, '--quoted-input', ...quoted].map(shellWord).join(' ')
}
