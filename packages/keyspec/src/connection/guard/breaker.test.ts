import { expect, test } from 'vitest'
import { Breaker, type BreakerState } from './breaker.ts'

function breaker() {
  const states: BreakerState[] = []
  return {
    states,
    it: new Breaker({ failureThreshold: 3, openForMs: 100, changed: (state) => states.push(state) }),
  }
}

function open(it: Breaker, now = 0) {
  for (let i = 0; i < 3; i += 1) it.failed(it.admit(now)!, now)
}

test('opens after so many failures in a row, not if one was answered between them', () => {
  const { it, states } = breaker()
  it.failed(it.admit(0)!, 0)
  it.failed(it.admit(0)!, 0)
  it.answered(it.admit(0)!)
  it.failed(it.admit(0)!, 0)
  it.failed(it.admit(0)!, 0)
  expect(states).toEqual([])
  it.failed(it.admit(0)!, 0)
  expect(states).toEqual(['open'])
})

test('an open one lets nothing through until its time is over, then a single call', () => {
  const { it, states } = breaker()
  open(it)
  expect(it.admit(99)).toBeUndefined()
  expect(it.waitMs(99)).toBe(1)
  expect(it.admit(100)).toBeDefined()
  expect(it.admit(100)).toBeUndefined()
  expect(states).toEqual(['open', 'half-open'])
})

test('a probe that is answered closes it, one that is not opens it for another while', () => {
  const { it, states } = breaker()
  open(it)
  it.failed(it.admit(100)!, 150)
  expect(it.admit(249)).toBeUndefined()
  it.answered(it.admit(250)!)
  expect(states).toEqual(['open', 'half-open', 'open', 'half-open', 'closed'])
  expect([it.admit(250), it.admit(250)]).not.toContain(undefined)
  expect(it.waitMs(250)).toBe(0)
})

test('after it closed it takes as many failures in a row to open again', () => {
  const { it } = breaker()
  open(it)
  it.answered(it.admit(100)!)
  it.failed(it.admit(100)!, 100)
  expect(it.state).toBe('closed')
})

test('the outcomes of calls that were sent before it opened change nothing', () => {
  const { it } = breaker()
  const early = it.admit(0)!
  open(it)
  it.answered(early)
  expect(it.state).toBe('open')
  const probe = it.admit(100)!
  it.failed(early, 100)
  expect(it.state).toBe('half-open')
  it.answered(probe)
  expect(it.state).toBe('closed')
})

test('a probe that never comes back is followed by another', () => {
  const { it } = breaker()
  open(it)
  const lost = it.admit(100)!
  expect(it.admit(199)).toBeUndefined()
  const second = it.admit(200)!
  it.failed(lost, 201)
  expect(it.state).toBe('half-open')
  it.answered(second)
  expect(it.state).toBe('closed')
})
