import type { Writable } from '../host.ts'
import { paint, type Paint } from './paint.ts'

/** Standard error: messages, and one line of progress where there is a terminal. */
export interface Log {
  readonly paint: Paint
  say(message: string): void
  /** Replaces the line of progress; `text` is made only when it is shown, a few times a second. */
  progress(text: () => string): void
  /** Takes the line of progress away. */
  done(): void
}

const EVERY_MS = 100
const ERASE_LINE = '\r\u001B[2K'

/** A log over a stream. */
export function log(stream: Writable, env: Readonly<Record<string, string | undefined>>): Log {
  const isTerminal = stream.isTTY === true && env['TERM'] !== 'dumb'
  let shownAtMs = 0
  let isShown = false
  const done = () => {
    if (isShown) stream.write(ERASE_LINE)
    isShown = false
  }
  return {
    paint: paint(stream, env),
    say(message) {
      done()
      stream.write(`${message}\n`)
    },
    progress(text) {
      const now = Date.now()
      if (!isTerminal || now - shownAtMs < EVERY_MS) return
      shownAtMs = now
      isShown = true
      stream.write(ERASE_LINE + text().slice(0, (stream.columns ?? 80) - 1))
    },
    done,
  }
}
