import type { Writable } from '../host.ts'
import { paint, type Paint } from './paint.ts'

/** Standard output: data as text for people, or as JSON. */
export interface Output<R = never> {
  readonly json: boolean
  readonly isTerminal: boolean
  readonly paint: Paint
  /** One record: a line of JSON with `--json`, else what `text` makes of it. */
  record(value: R, text: () => string): void
  /** Text for people; nothing with `--json`. */
  text(line: string): void
  /** Bytes as they are; settles when more can be taken. */
  bytes(chunk: Uint8Array): Promise<void>
}

/** Output over a stream. */
export function output<R = any>(
  stream: Writable,
  env: Readonly<Record<string, string | undefined>>,
  json: boolean,
): Output<R> {
  return {
    json,
    isTerminal: stream.isTTY === true,
    paint: paint(stream, env),
    record(value, text) {
      stream.write(`${json ? JSON.stringify(value) : text()}\n`)
    },
    text(line) {
      if (!json) stream.write(`${line}\n`)
    },
    async bytes(chunk) {
      if (stream.write(chunk) === false) await new Promise<void>((resolve) => stream.once('drain', resolve))
    },
  }
}
