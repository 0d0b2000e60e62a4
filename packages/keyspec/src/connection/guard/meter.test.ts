import { expect, test } from 'vitest'
import { Meter } from './meter.ts'

const HOUR_MS = 3_600_000

test('before any answer all times are 0, and there is no peak hour', () => {
  const meter = new Meter()
  expect(meter.responseTimes()).toEqual({ count: 0, mean: 0, p50: 0, p99: 0, max: 0 })
  expect(meter.peakHour()).toBeUndefined()
})

test('times of answers are in ms, exact to three figures, up to an hour', () => {
  const meter = new Meter()
  for (let ms = 1; ms <= 100; ms += 1) meter.answered(ms)
  meter.answered(undefined) // it was asked to wait
  const { count, mean, p50, p99, max } = meter.responseTimes()
  expect(count).toBe(100)
  expect(mean).toBeCloseTo(50.5, 0)
  expect(p50).toBeCloseTo(50, 1)
  expect(p99).toBeCloseTo(99, 0)
  expect(max).toBeCloseTo(100, 0)
  meter.answered(3_600_000)
  expect(meter.responseTimes().max / 3_600_000).toBeCloseTo(1, 2)
})

test('an answer within a microsecond counts as one', () => {
  const meter = new Meter()
  meter.answered(0)
  expect(meter.responseTimes()).toMatchObject({ count: 1, max: 0.001, mean: 0.001 })
})

test('failures in a row end with an answer', () => {
  const meter = new Meter()
  meter.failed()
  meter.failed()
  expect(meter).toMatchObject({ failures: 2, consecutiveFailures: 2 })
  meter.answered(undefined)
  meter.failed()
  expect(meter).toMatchObject({ failures: 3, consecutiveFailures: 1 })
})

test('the peak hour is the first with the most calls', () => {
  const meter = new Meter()
  const at = (hour: number, calls: number) => {
    for (let call = 0; call < calls; call += 1) meter.sent(hour * HOUR_MS + call)
  }
  at(10, 2)
  at(11, 3)
  at(12, 3)
  expect(meter.peakHour()).toEqual({ start: new Date(11 * HOUR_MS), calls: 3 })
  expect(meter.attempts).toBe(8)
  at(13, 4)
  expect(meter.peakHour()).toEqual({ start: new Date(13 * HOUR_MS), calls: 4 })
})
