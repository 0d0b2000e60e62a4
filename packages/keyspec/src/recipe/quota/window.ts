import { SchemaError } from '../../errors.ts'
import { param, type ParamCodec } from '../../param.ts'

/** A calendar window: from one full hour or day, UTC, to the next. */
export interface CalendarWindow {
  readonly fromMs: number
  readonly tillMs: number
}

const LENGTHS: ReadonlyMap<unknown, number> = new Map<unknown, number>([
  [param.hour, 3_600_000],
  [param.day, 86_400_000],
])

/** The placeholder that carries the window, and how long the window is; a `SchemaError` where there is not just one. */
export function windowParam(
  pattern: string,
  params: Readonly<Record<string, ParamCodec<any, any> | undefined>>,
): { readonly name: string; readonly perMs: number } {
  const found = Object.entries(params).flatMap(([name, codec]) => {
    const perMs = LENGTHS.get(codec)
    return perMs === undefined ? [] : [{ name, perMs }]
  })
  if (found.length === 1) return found[0]!
  throw new SchemaError(
    `"${pattern}": one placeholder of a quota is its window: give it the param codec \`param.hour\` or \`param.day\`, as in \`params: { hour: param.hour }\``,
  )
}

/** The window that an instant lies in. Hours and days of UTC are all of one length in Unix time, and the epoch starts both. */
export function windowAt(atMs: number, perMs: number): CalendarWindow {
  const fromMs = Math.floor(atMs / perMs) * perMs
  return { fromMs, tillMs: fromMs + perMs }
}

/** Estimates the server's clock from what it said last; a local clock that is set meanwhile changes nothing. */
export class ServerClock {
  readonly #injected: (() => number) | undefined
  #aheadMs = Date.now() - performance.now()

  constructor(injected: (() => number) | undefined) {
    this.#injected = injected
  }

  nowMs(): number {
    return this.#injected?.() ?? performance.now() + this.#aheadMs
  }

  /** The server said what time it is. */
  heard(serverMs: number): void {
    this.#aheadMs = serverMs - performance.now()
  }
}
