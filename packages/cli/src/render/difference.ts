/** What stands in one of two texts and not in the other: old lines with `-`, new ones with `+`, at most `most` of each. */
export function difference(before: string, after: string, most = 6): string {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const first = now.findIndex((line, at) => line !== old[at])
  const shown = (sign: string, lines: readonly string[], others: readonly string[]) => {
    const known = new Set(others)
    const found = lines.filter((line) => !known.has(line))
    const left = found.length - most
    return [
      ...found.slice(0, most).map((line) => `${sign} ${line}`),
      ...(left > 0 ? [`${sign} … ${left} more`] : []),
    ]
  }
  const lineNumber = (first === -1 ? now.length : first) + 1
  return [`@@ line ${lineNumber} @@`, ...shown('-', old, now), ...shown('+', now, old)].join('\n')
}
