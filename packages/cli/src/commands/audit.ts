import { type Place, placeOfCall } from '../render/place.ts'
import { remedyText } from '../render/remedy.ts'
import { watch } from '../terminal/watch.ts'
import { resolve } from 'node:path'
import { audit as auditKeys, type AuditResult, type Finding, type SnapshotSource } from '@keyspec/inspect'
import { type Call, command, type Settings, type RecordOf } from '../command.ts'
import { exit, type ExitCode, misused } from '../failure.ts'
import { serverOptions } from '../options.ts'
import { count, counted } from '../render/units.ts'
import { auditJson } from './audit-json.ts'
import { readBaseline, writeBaseline } from './audit-baseline.ts'
import { type Keys, snapshotJson, snapshotOptions, snapshotText, withKeys } from './snapshot.ts'

const options = {
  ...serverOptions,
  ...snapshotOptions,
  each: { about: 'a line for each key as it is found, rather than one for all that are alike' },
  sample: { value: 'N', number: true, about: 'look at about so many keys, taken at random' },
  'no-values': { about: 'do not read values' },
  baseline: { value: 'FILE', about: 'report only what is not in it, or has grown' },
  'write-baseline': { about: 'accept what is found: write it to the file of --baseline' },
} as const

/** `keyspec audit` */
export const audit = command({
  operands: '[FILE]',
  options,
  examples: [
    ['keyspec audit', 'every key against the schema'],
    ['keyspec audit --sample 10000 --no-values', 'a quick look'],
    ['keyspec audit --baseline debt.json --write-baseline', 'accept what is wrong today'],
    ['keyspec audit --baseline debt.json', 'fail only where something is new, or has grown'],
    ['keyspec audit --each --json', 'every key that is wrong, as JSON'],
    ['keyspec audit --snapshot dump.rdb', 'the keys of a file; no server is asked'],
    ['keyspec audit --snapshot', 'the keys of a snapshot that the server makes for it'],
  ],
  json: { form: 'lines', schema: auditJson },
  async run(call) {
    const asked = checked(call)
    const settings = await call.config()
    const path = asked.baseline === undefined ? undefined : resolve(call.cwd, asked.baseline)
    const accepted = path === undefined || asked.writes ? () => 0 : await readBaseline(path, asked.baseline!)
    const valueBytes = asked.values ? undefined : 0
    return withKeys(call, settings, valueBytes, (keys) => report(call, keys, settings, asked, path, accepted))
  },
})

async function report(
  call: Call<typeof options, RecordOf<typeof auditJson>>,
  { from, snapshot }: Keys,
  settings: Settings,
  asked: Asked,
  path: string | undefined,
  accepted: (finding: Finding) => number,
): Promise<ExitCode> {
  const { out, signal } = call
  const { schema, prefix } = settings
  const place = placeOfCall(call.options, call.env, settings)
  const found: Finding[] = []
  let reported = 0
  let acceptedWhole = 0
  const take = (given: Finding) => {
    const finding = snapshot === undefined ? given : inSnapshot(given)
    // Kept only where there is a bounded number of them.
    if (asked.writes) found.push(finding)
    const before = accepted(finding)
    if (asked.writes || finding.count <= before) {
      acceptedWhole += 1
      return
    }
    reported += 1
    out.record(
      {
        record: 'finding',
        ...finding,
        ...fixOf(finding, place),
        ...(before > 0 ? { accepted: before } : {}),
      },
      () => textOf(call, finding, { before, each: asked.each, place }),
    )
  }
  const auditing = auditKeys(schema, from, {
    prefix,
    signal,
    each: asked.each,
    sample: asked.sample,
    values: asked.values,
    maxLoad: call.options['max-load'],
  })
  const audited = await watch(call, auditing, {
    done: 'looked at',
    each: ({ findings }) => findings.forEach(take),
  })
  if (asked.writes) await writeBaseline(path!, asked.baseline!, found)
  const { keys, decoded, notDecoded, eviction } = audited
  out.record(
    {
      record: 'summary',
      keys,
      sampled: asked.sample !== undefined,
      decoded,
      notDecoded,
      evictionPolicy: eviction?.policy,
      accepted: acceptedWhole,
      ...(snapshot === undefined ? {} : { snapshot: snapshotJson(snapshot) }),
    },
    () => summaryOf(audited, snapshot, { reported, acceptedWhole, ...asked }),
  )
  return reported > 0 ? exit.findings : exit.fine
}

/** What takes too much in a snapshot, where values are packed, takes more in memory. */
function inSnapshot(finding: Finding): Finding {
  if (finding.code !== 'over-budget') return finding
  return { ...finding, message: `${finding.message}: by its serialized size, and memory is mostly more` }
}

interface Asked {
  readonly each: boolean
  readonly sample: number | undefined
  readonly baseline: string | undefined
  readonly writes: boolean
  readonly values: boolean
}

function checked({ options: given }: Call<typeof options>): Asked {
  const { each = false, sample, baseline, 'write-baseline': writes = false } = given
  if (sample !== undefined && given.snapshot === true)
    throw misused('a snapshot is read whole: leave out --sample')
  if (sample !== undefined && !(Number.isInteger(sample) && sample > 0))
    throw misused(`--sample takes a number of keys, not ${sample}`)
  if (writes && baseline === undefined) throw misused('--write-baseline needs --baseline FILE')
  if (writes && sample !== undefined) throw misused('a sample does not know all that is to be accepted')
  if (each && baseline !== undefined) throw misused('a baseline knows findings, not keys: leave out --each')
  return { each, sample, baseline, writes, values: given['no-values'] !== true }
}

function textOf(
  { out: { paint } }: Call<typeof options>,
  finding: Finding,
  { before, each, place }: { before: number; each: boolean; place: Place },
): string {
  const { code, severity, entry, pattern, count: keys, samples, message } = finding
  const { fix } = fixOf(finding, place)
  const tint = severity === 'error' ? paint.red : paint.yellow
  if (each) return `${tint(code)}  ${samples[0] || EMPTY}  ${message}`
  const whose = [entry, pattern === '' ? EMPTY : pattern].filter((part) => part !== undefined).join('  ')
  const grown = before > 0 ? ` (${count(before)} accepted)` : ''
  const examples = samples.map((sample) => sample || EMPTY)
  if (keys > samples.length) examples.push('…')
  return [
    `${tint(code)}  ${paint.bold(whose)}  ${counted(keys, 'key')}${grown}`,
    `  ${message}`,
    `  ${paint.dim(`keys: ${examples.join('  ')}`)}`,
    ...(fix === undefined ? [] : [`  ${paint.dim(`fix: ${fix}`)}`]),
  ].join('\n')
}

/** What to do, in one line. */
function fixOf({ remedy }: Finding, place: Place): { readonly fix?: string } {
  return remedy === undefined ? {} : { fix: remedyText(remedy, place) }
}

const EMPTY = '(the empty key)'

function summaryOf(
  { keys, decoded, notDecoded, eviction }: AuditResult,
  snapshot: SnapshotSource | undefined,
  { reported, acceptedWhole, each, sample, writes }: Asked & { reported: number; acceptedWhole: number },
): string {
  const said = [
    snapshot !== undefined
      ? `${counted(keys, 'key')} of a snapshot looked at (${snapshotText(snapshot)})`
      : sample === undefined
        ? `${counted(keys, 'key')} looked at`
        : `a sample of ${counted(keys, 'key')} looked at, not all`,
    `${count(decoded)} decoded`,
  ]
  if (notDecoded > 0) said.push(`${count(notDecoded)} too large to decode`)
  if (eviction === undefined)
    said.push(
      `the ${snapshot === undefined ? 'server' : 'snapshot'} does not say what ${snapshot === undefined ? 'it' : 'the server'} evicts`,
    )
  if (writes) said.push(`${counted(acceptedWhole, 'finding')} written to the baseline`)
  else if (acceptedWhole > 0) said.push(`${counted(acceptedWhole, 'finding')} in the baseline`)
  const found = reported === 0 ? 'nothing found' : counted(reported, each ? 'fault' : 'finding')
  return `${writes ? '' : `${found}: `}${said.join(', ')}`
}
