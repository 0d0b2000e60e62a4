import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { boundOf, Deadline, type TimeoutError, Waiting } from './deadline.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

class Command extends Waiting {
  readonly errors: Error[] = []
  readonly #deadline: Deadline | undefined

  constructor(deadline?: Deadline) {
    super()
    this.#deadline = deadline
  }

  late(error: TimeoutError): void {
    this.errors.push(error)
    this.#deadline?.leave(this)
  }
}

function entered(deadline: Deadline): Command {
  const command = new Command(deadline)
  deadline.enter(command)
  return command
}

describe('the bound', () => {
  test.each([
    [undefined, undefined, 5000],
    [undefined, 300, 300],
    [undefined, 0, 5000],
    [undefined, -1, 5000],
    ['2s', undefined, 2000],
    ['2s', 0, 2000],
    ['2s', 300, 300],
    ['200ms', 300, 200],
  ] as const)('of the option %s and the client’s own %s is %i ms', (timeout, own, bound) => {
    expect(boundOf(timeout === undefined ? {} : { timeout }, own)).toBe(bound)
  })
})

test('a command that nobody waits for yet is not settled and has no neighbours', () => {
  const { settled, before, after, period } = new Command()
  expect({ settled, before, after, period }).toEqual({
    settled: false,
    before: undefined,
    after: undefined,
    period: 0,
  })
})

test('a command is given up after its whole time, and at most an eighth later', () => {
  const deadline = new Deadline(800)
  const command = entered(deadline)
  vi.advanceTimersByTime(800)
  expect(command.errors).toEqual([])
  vi.advanceTimersByTime(100)
  expect(command.errors.map(String)).toEqual(['TimeoutError: no answer within 800 ms'])
  vi.advanceTimersByTime(5000)
  expect(command.errors).toHaveLength(1)
})

test('a command that begins late in a period still has its whole time', () => {
  const deadline = new Deadline(800)
  const first = entered(deadline)
  vi.advanceTimersByTime(99)
  const second = entered(deadline)
  vi.advanceTimersByTime(801)
  expect([first.errors.length, second.errors.length]).toEqual([1, 1])
})

test('one command is given up without the one that came later', () => {
  const deadline = new Deadline(800)
  const first = entered(deadline)
  vi.advanceTimersByTime(150)
  const second = entered(deadline)
  vi.advanceTimersByTime(750)
  expect([first.errors.length, second.errors.length]).toEqual([1, 0])
  vi.advanceTimersByTime(100)
  expect([first.errors.length, second.errors.length]).toEqual([1, 1])
})

test.each([
  ['the first', 0],
  ['one between', 1],
  ['the last', 2],
])('%s of three that is answered is not given up, and the others are', (_which, answered) => {
  const deadline = new Deadline(800)
  const commands = [entered(deadline), entered(deadline), entered(deadline)]
  deadline.leave(commands[answered]!)
  expect([commands[answered]!.before, commands[answered]!.after]).toEqual([undefined, undefined])
  const later = entered(deadline)
  vi.advanceTimersByTime(900)
  expect(commands.map(({ errors }) => errors.length)).toEqual(
    [0, 1, 2].map((at) => (at === answered ? 0 : 1)),
  )
  expect(later.errors).toHaveLength(1)
})

test('those left of three know each other alone, whichever was answered', () => {
  const deadline = new Deadline(800)
  const [first, second, third] = [entered(deadline), entered(deadline), entered(deadline)]
  deadline.leave(second)
  expect(first.after).toBe(third)
  expect(third.before).toBe(first)
  deadline.leave(third)
  expect(first.after).toBe(undefined)
  const fourth = entered(deadline)
  expect(fourth.before).toBe(first)
  deadline.leave(first)
  expect(fourth.before).toBe(undefined)
})

test('there is one timer while commands wait, and none once a period has passed without one', () => {
  const deadline = new Deadline(800)
  expect(vi.getTimerCount()).toBe(0)
  const commands = [entered(deadline), entered(deadline)]
  expect(vi.getTimerCount()).toBe(1)
  for (const command of commands) deadline.leave(command)
  vi.advanceTimersByTime(100)
  expect(vi.getTimerCount()).toBe(0)
  const next = entered(deadline)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(900)
  expect(next.errors).toHaveLength(1)
})

test('a time that does not divide by eight is rounded up, never cut', () => {
  const deadline = new Deadline(9)
  const command = entered(deadline)
  vi.advanceTimersByTime(17)
  expect(command.errors).toEqual([])
  vi.advanceTimersByTime(1)
  expect(command.errors).toHaveLength(1)
})

test('a command that waits on the server has that time beside, and its message says the sum', () => {
  const deadline = new Deadline(800)
  const command = new Command()
  const timer = deadline.enterBlocked(command, 2000)
  vi.advanceTimersByTime(2799)
  expect(command.errors).toEqual([])
  vi.advanceTimersByTime(1)
  expect(command.errors.map(String)).toEqual(['TimeoutError: no answer within 2800 ms'])
  timer.cancel()

  const answered = new Command()
  deadline.enterBlocked(answered, 2000).cancel()
  vi.advanceTimersByTime(10_000)
  expect(answered.errors).toEqual([])
})

test('no timer keeps the process alive', async () => {
  vi.useRealTimers()
  const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const deadline = new Deadline(60_000)
  const command = entered(deadline)
  const blocked = deadline.enterBlocked(new Command(), 60_000)
  expect(process.getActiveResourcesInfo().filter((name) => name === 'Timeout')).toHaveLength(before)
  deadline.leave(command)
  blocked.cancel()
})
