/** What a terminal can do. */
export interface Screen {
  /** Lines that stay. */
  print(line: string): void
  /** Lines that stand at the bottom and are replaced by the next; where there is no terminal they are printed, now and then. */
  show(lines: readonly string[]): void
  /** Takes what is shown away. */
  clear(): void
  readonly isTerminal: boolean
  readonly width: number
  bold(text: string): string
  dim(text: string): string
}

/** The little of a stream that a screen needs. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

const PLAIN_EVERY_MS = 2_000

/** A screen over a stream: moves and colours only on a terminal, and no colours where NO_COLOR is set (https://no-color.org). */
export function screen(
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
  now: () => number = Date.now,
): Screen {
  const isTerminal = output.isTTY === true && env['TERM'] !== 'dumb'
  const hasColor = isTerminal && (env['NO_COLOR'] ?? '') === ''
  const width = Math.max(40, output.columns ?? 100)
  const paint = (code: number) => (text: string) => (hasColor ? `\u001B[${code}m${text}\u001B[0m` : text)
  let shown: readonly string[] = []
  let lastPlain = ''
  let lastAtMs = Number.NEGATIVE_INFINITY

  const clear = () => {
    if (isTerminal && shown.length > 0) output.write(`\u001B[${shown.length}A\u001B[0J`)
    shown = []
  }

  return {
    isTerminal,
    width,
    bold: paint(1),
    dim: paint(2),
    clear,
    print(line) {
      const again = shown
      clear()
      output.write(`${line}\n`)
      if (isTerminal && again.length > 0) this.show(again)
    },
    show(lines) {
      if (isTerminal) {
        clear()
        shown = lines.map((line) => cut(line, width - 1))
        output.write(shown.map((line) => `${line}\n`).join(''))
        return
      }
      const plain = lines.join('  ')
      if (plain === lastPlain || now() - lastAtMs < PLAIN_EVERY_MS) return
      lastPlain = plain
      lastAtMs = now()
      output.write(`${plain}\n`)
    },
  }
}

/** A bar of a width, filled up to a part of it. */
export function bar(part: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, part)) * width)
  return '█'.repeat(full) + '░'.repeat(width - full)
}

// Escape sequences take no room, so a line that has some is left as it is: those are short.
function cut(line: string, width: number): string {
  return line.includes('\u001B') || line.length <= width ? line : `${line.slice(0, width - 1)}…`
}
