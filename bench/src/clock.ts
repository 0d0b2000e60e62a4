/** Milliseconds of the clock that all processes of a machine share and nobody sets. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Sets the calendar of this process, and of nobody else, ahead. Timers and `performance.now()` stay as they are. */
export function setClockAhead(byMs: number): void {
  const Real = Date
  class Shifted extends Real {
    constructor(...given: readonly unknown[]) {
      if (given.length === 0) super(Real.now() + byMs)
      else super(...(given as [number]))
    }

    static override now(): number {
      return Real.now() + byMs
    }
  }
  globalThis.Date = Shifted as DateConstructor
}
