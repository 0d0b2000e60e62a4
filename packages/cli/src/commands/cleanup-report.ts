import { type Overdue, type OverdueProblem, shown } from 'keyspec/inspect'
import { table } from '../render/table.ts'
import { count } from '../render/units.ts'
import type { Output } from '../terminal/output.ts'
import type { Paint } from '../terminal/paint.ts'

/** Keys of one entry with one problem. */
export interface OverdueSum {
  readonly entry: string
  readonly problem: OverdueProblem
  readonly keys: number
  readonly mended: number
  readonly ageUnknown: number
  readonly samples: readonly string[]
}

/** Adds up findings as they come. */
export interface OverdueSums {
  add(found: readonly Overdue[]): void
  rows(): readonly OverdueSum[]
  /** How many keys are in a sum, over all rows that `which` picks. */
  count(of: 'keys' | 'mended' | 'ageUnknown', which?: (row: OverdueSum) => boolean): number
}

const SAMPLES = 5

/** Nothing yet. */
export function overdueSums(): OverdueSums {
  const sums = new Map<string, OverdueSum>()
  const rows = () => [...sums.values()]
  return {
    add(found) {
      for (const { owned, problem, key, mended, ageUnknown } of found) {
        const id = `${owned.entry} ${problem}`
        const sum = sums.get(id) ?? {
          entry: owned.entry,
          problem,
          keys: 0,
          mended: 0,
          ageUnknown: 0,
          samples: [],
        }
        sums.set(id, {
          ...sum,
          keys: sum.keys + 1,
          mended: sum.mended + (mended ? 1 : 0),
          ageUnknown: sum.ageUnknown + (ageUnknown ? 1 : 0),
          samples: sum.samples.length < SAMPLES ? [...sum.samples, shown(key)] : sum.samples,
        })
      }
    },
    rows,
    count: (of, which = () => true) =>
      rows()
        .filter(which)
        .reduce((sum, row) => sum + row[of], 0),
  }
}

/** What is wrong, in a word or two, and what mends it. */
const WORDS: Readonly<Record<OverdueProblem, readonly [is: string, advice: string]>> = {
  'no-ttl': ['no TTL', '--repair gives them the declared one'],
  'ttl-too-long': ['TTL too long', '--cap lowers it to the declared one'],
  'two-names': ['at both names', 'keyspec migrate run --keep new deletes the older value'],
  idle: ['idle', '--idle deletes them, unless --dry-run is given'],
  'other-type': ['other type', 'left alone: keyspec audit says more'],
}

/** Whether somebody has to do something about it: a key of another type is not ours to judge. */
export function isLeft({ problem, keys, mended }: OverdueSum): boolean {
  return problem !== 'other-type' && keys > mended
}

/** What was found, for people. */
export function overdueText(sums: OverdueSums, paint: Paint): string {
  const rows = sums.rows()
  if (rows.length === 0) return 'nothing is past its policy'
  const hasMended = sums.count('mended') > 0
  const columns = [
    { head: 'entry' },
    { head: 'problem' },
    { head: 'keys', right: true },
    ...(hasMended ? [{ head: 'mended', right: true }] : []),
    { head: 'such as' },
  ]
  const cells = rows.map(({ entry, problem, keys, mended, samples }) => [
    entry,
    WORDS[problem][0],
    count(keys),
    ...(hasMended ? [count(mended)] : []),
    samples.slice(0, 2).join(' '),
  ])
  const open = [...new Set(rows.filter(({ keys, mended }) => keys > mended).map(({ problem }) => problem))]
  const aged = sums.count('ageUnknown')
  return [
    table(columns, cells, paint),
    ...open.map((problem) => `${WORDS[problem][0]}: ${WORDS[problem][1]}`),
    ...(aged === 0
      ? []
      : [
          `${count(aged)} of them live from their creation, which no server remembers: their time starts when they are mended`,
        ]),
  ].join('\n')
}

/** Prints what was found or done, as text or JSON. */
export function reportOverdue(out: Output, sums: OverdueSums, complete: boolean): void {
  if (!out.json) return out.text(overdueText(sums, out.paint))
  for (const row of sums.rows()) out.record({ record: 'finding', ...row }, () => '')
  out.record(
    {
      record: 'total',
      keys: sums.count('keys', ({ problem }) => problem !== 'other-type'),
      mended: sums.count('mended'),
      complete,
      findings: sums.rows().some(isLeft),
    },
    () => '',
  )
}

const amount = { type: 'integer', minimum: 0 }

/** What a line of `keyspec cleanup --json` is. */
export const cleanupSchema = {
  oneOf: [
    {
      description: 'one problem of one entry',
      type: 'object',
      properties: {
        record: { const: 'finding' },
        entry: { type: 'string' },
        problem: { enum: Object.keys(WORDS) },
        keys: amount,
        mended: { ...amount, description: 'given a time to live, or deleted for being idle' },
        ageUnknown: { ...amount, description: 'live from their creation, which no server remembers' },
        samples: { type: 'array', items: { type: 'string' }, maxItems: SAMPLES },
      },
      required: ['record', 'entry', 'problem', 'keys', 'mended', 'ageUnknown', 'samples'],
      additionalProperties: false,
    },
    {
      description: 'the last line; keys of another type are not counted here',
      type: 'object',
      properties: {
        record: { const: 'total' },
        keys: amount,
        mended: amount,
        complete: { type: 'boolean', description: 'false where it was stopped' },
        findings: { type: 'boolean', description: 'whether something is left to mend' },
      },
      required: ['record', 'keys', 'mended', 'complete', 'findings'],
      additionalProperties: false,
    },
  ],
}
