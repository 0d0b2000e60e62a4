import type { Writable } from '../run.ts'
import { paint, type Paint } from './paint.ts'

/** Standard output: data as text for people, or as JSON. */
export interface Output {
  readonly json: boolean
  readonly paint: Paint
  /** One record: a line of JSON with `--json`, else what `text` makes of it. */
  record(value: object, text: () => string): void
  /** Text for people; nothing with `--json`. */
  text(line: string): void
}

/** Output over a stream. */
export function output(
  stream: Writable,
  env: Readonly<Record<string, string | undefined>>,
  json: boolean,
): Output {
  return {
    json,
    paint: paint(stream, env),
    record(value, text) {
      stream.write(`${json ? JSON.stringify(value) : text()}\n`)
    },
    text(line) {
      if (!json) stream.write(`${line}\n`)
    },
  }
}
