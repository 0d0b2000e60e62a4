import type { CleanupResult, PolicyProblem, ViolationSum } from '@keyspec/inspect'
import type { RecordOf } from '../command.ts'
import { table } from '../render/table.ts'
import { count } from '../render/units.ts'
import type { Output } from '../terminal/output.ts'
import type { Paint } from '../terminal/paint.ts'

/** How many keys there are, over all rows that `which` picks. */
export function sumOf(
  { violations }: CleanupResult,
  of: 'keys' | 'fixed' | 'ageUnknown',
  which: (row: ViolationSum) => boolean = () => true,
): number {
  return violations.filter(which).reduce((sum, row) => sum + row[of], 0)
}

/** What is wrong, in a word or two, and what fixes it. */
const WORDS: Readonly<Record<PolicyProblem, readonly [is: string, advice: string]>> = {
  'no-ttl': ['no TTL', '--repair gives them the declared one'],
  'ttl-too-long': ['TTL too long', '--cap lowers it to the declared one'],
  'two-names': ['at both names', 'keyspec migrate run --keep new deletes the older value'],
  idle: ['idle', '--idle deletes them, unless --dry-run is given'],
  'other-type': ['other type', 'left alone: keyspec audit says more'],
}

/** Whether somebody has to do something about it: a key of another type is not ours to judge. */
export function isLeft({ problem, keys, fixed }: ViolationSum): boolean {
  return problem !== 'other-type' && keys > fixed
}

/** What was found, for people. */
export function overdueText(found: CleanupResult, paint: Paint): string {
  const { violations: rows } = found
  if (rows.length === 0) return 'nothing is past its policy'
  const hasFixed = sumOf(found, 'fixed') > 0
  const columns = [
    { head: 'entry' },
    { head: 'problem' },
    { head: 'keys', right: true },
    ...(hasFixed ? [{ head: 'fixed', right: true }] : []),
    { head: 'such as' },
  ]
  const cells = rows.map(({ entry, problem, keys, fixed, samples }) => [
    entry,
    WORDS[problem][0],
    count(keys),
    ...(hasFixed ? [count(fixed)] : []),
    samples.slice(0, 2).join(' '),
  ])
  const open = [...new Set(rows.filter(({ keys, fixed }) => keys > fixed).map(({ problem }) => problem))]
  const aged = sumOf(found, 'ageUnknown')
  return [
    table(columns, cells, paint),
    ...open.map((problem) => `${WORDS[problem][0]}: ${WORDS[problem][1]}`),
    ...(aged === 0
      ? []
      : [
          `${count(aged)} of them live from their creation, which no server remembers: their time starts when they are fixed`,
        ]),
  ].join('\n')
}

/** Prints what was found or done, as text or JSON. */
export function reportOverdue(
  out: Output<RecordOf<typeof cleanupSchema>>,
  found: CleanupResult,
  complete: boolean,
): void {
  if (!out.json) return out.text(overdueText(found, out.paint))
  for (const row of found.violations) out.record({ record: 'finding', ...row }, () => '')
  out.record(
    {
      record: 'total',
      keys: sumOf(found, 'keys', ({ problem }) => problem !== 'other-type'),
      fixed: sumOf(found, 'fixed'),
      complete,
      findings: found.violations.some(isLeft),
    },
    () => '',
  )
}

const amount = { type: 'integer', minimum: 0 } as const

/** What a line of `keyspec cleanup --json` is. */
export const cleanupSchema = {
  oneOf: [
    {
      description: 'one problem of one entry',
      type: 'object',
      properties: {
        record: { const: 'finding' },
        entry: { type: 'string' },
        problem: { enum: Object.keys(WORDS) as PolicyProblem[] },
        keys: amount,
        fixed: { ...amount, description: 'given a time to live, or deleted for being idle' },
        ageUnknown: { ...amount, description: 'live from their creation, which no server remembers' },
        samples: { type: 'array', items: { type: 'string' }, maxItems: 5 },
      },
      required: ['record', 'entry', 'problem', 'keys', 'fixed', 'ageUnknown', 'samples'],
      additionalProperties: false,
    },
    {
      description: 'the last line; keys of another type are not counted here',
      type: 'object',
      properties: {
        record: { const: 'total' },
        keys: amount,
        fixed: amount,
        complete: { type: 'boolean', description: 'false where it was stopped' },
        findings: { type: 'boolean', description: 'whether something is left to fix' },
      },
      required: ['record', 'keys', 'fixed', 'complete', 'findings'],
      additionalProperties: false,
    },
  ],
} as const
