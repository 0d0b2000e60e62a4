import { expect, test } from 'vitest'
import type { Job } from '../job.ts'
import type { Measured } from '../measure.ts'
import { summarise } from './summary.ts'

const contender = (label: string) => ({ label, open: () => Promise.reject(new Error('nothing runs here')) })
const job: Job = {
  name: 'errands',
  about: '',
  cases: [{ name: 'run', act: 'run', inFlight: 1 }],
  contenders: { ours: contender('Ours'), peer: contender('Peer'), other: contender('Other') },
  targets: [{ case: 'run', ours: 'ours', against: ['peer', 'other'], atLeast: 2, onTwoCores: 1.5 }],
}

function rounds(name: string, rates: readonly number[], cores?: 1 | 2): Measured[] {
  return rates.map((perSecond) => ({
    contender: name,
    case: 'run',
    cores,
    perSecond,
    clientMicros: 10,
    serverMicros: 5,
    commands: 1,
    p50Micros: 1,
    p99Micros: 2,
  }))
}

test('two cores stand beside one, each with its bound', () => {
  const { cases, verdicts } = summarise(job, [
    ...rounds('ours', [30, 20, 40], 1),
    ...rounds('peer', [10, 10, 10], 1),
    ...rounds('other', [9, 9, 9], 1),
    ...rounds('ours', [28], 2),
    ...rounds('peer', [15], 2),
    ...rounds('other', [20], 2),
  ])
  expect(verdicts).toMatchObject([
    {
      best: 'peer',
      met: true,
      ratio: { median: 3, min: 2, max: 4 },
      twoCores: { best: 'other', met: false, ratio: { median: 1.4 } },
    },
  ])
  expect(cases[0]!.rows[0]).toMatchObject({ perSecond: { median: 30 }, perSecondOnTwoCores: { median: 28 } })
})

test('rounds that do not say how many cores were on one', () => {
  const { cases, verdicts } = summarise(job, [...rounds('ours', [30]), ...rounds('peer', [10])])
  expect(verdicts).toMatchObject([{ met: true, ratio: { median: 3 } }])
  expect(verdicts[0]).not.toHaveProperty('twoCores')
  expect(cases[0]!.rows[0]).not.toHaveProperty('perSecondOnTwoCores')
})

test('nothing is met or missed on two cores where nothing was promised', () => {
  const [{ onTwoCores: _, ...target }] = job.targets as [Job['targets'][number]]
  const { verdicts } = summarise({ ...job, targets: [target] }, [
    ...rounds('ours', [30], 1),
    ...rounds('peer', [10], 1),
    ...rounds('ours', [30], 2),
    ...rounds('peer', [40], 2),
  ])
  expect(verdicts[0]!.twoCores).toMatchObject({ ratio: { median: 0.75 } })
  expect(verdicts[0]!.twoCores).not.toHaveProperty('met')
})
