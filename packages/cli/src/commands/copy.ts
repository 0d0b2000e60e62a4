import { validate } from 'keyspec'
import {
  type CopyResult,
  copyKeys,
  type CopyPreview,
  escapeKey,
  previewCopy,
  selectKeys,
} from '@keyspec/inspect'
import { withoutPassword } from '../address.ts'
import { type Call, command, type Options, type RecordOf } from '../command.ts'
import { refusal } from '../confirmation.ts'
import { exit, type ExitCode, misused } from '../failure.ts'
import { confirmOptions, selectionOf, selectionOptions, serverOptions } from '../options.ts'
import { existingLines } from '../render/existing.ts'
import { commandLine } from '../render/command-line.ts'
import { bytes, count, counted } from '../render/units.ts'
import { watch, watchChange } from '../terminal/watch.ts'
import { copySchema } from './copy-json.ts'

const POLICIES = ['fail', 'skip', 'replace'] as const
type Policy = (typeof POLICIES)[number]

/** `keyspec copy` */
export const copy = command({
  options: {
    ...serverOptions,
    ...selectionOptions,
    to: { value: 'URL', about: 'the server to copy to: redis://, rediss://, unix://' },
    'to-cluster': { about: 'that URL is of a node of a cluster' },
    'on-conflict': {
      value: 'fail|skip|replace',
      about: 'where keys are there already: copy nothing (unless told), leave them, or replace them',
    },
    'dry-run': { about: 'only show what would be copied' },
    ...confirmOptions,
  },
  examples: [
    [
      'keyspec copy --to redis://other:6379',
      'the whole keyspace, unless one of its keys is there; asks first',
    ],
    [
      'keyspec copy --to redis://other:6379 --entry session --on-conflict skip --yes',
      'what is not there of an entry',
    ],
    ['keyspec copy --to redis://node:7000 --to-cluster --max-load 1', 'into a cluster, as fast as it goes'],
  ],
  json: { form: 'lines', schema: copySchema },
  async run(call) {
    const { options, out, log, signal } = call
    const { to } = options
    if (to === undefined) throw misused('keyspec copy takes --to URL, the server to copy to')
    const policy = POLICIES.find((each) => each === (options['on-conflict'] ?? 'fail'))
    if (policy === undefined) throw misused(`--on-conflict is ${POLICIES.join(', ')}`)
    const settings = await call.config()
    const { schema, prefix } = settings
    validate(schema, { prefix })
    const selection = selectKeys(schema, selectionOf(options, settings))
    const [here, there] = [
      await call.connect(),
      await call.connectTo({ url: to, cluster: options['to-cluster'], flag: '--to-cluster' }),
    ]
    const how = { maxLoad: options['max-load'], signal }

    const preview = await watch(call, previewCopy(here, there, selection, how), { doing: 'looked for' })
    const { title } = selection
    const { keys, fresh, existing, samples } = preview
    for (const line of previewLines(preview, title, policy)) log.say(line)
    if (out.json)
      out.record(
        { record: 'preview', title, keys, fresh, existing, samples: samples.map(escapeKey) },
        () => '',
      )
    if (existing > 0 && policy === 'fail') {
      log.say('nothing was copied; --on-conflict skip leaves those that are there, replace replaces them')
      return exit.findings
    }
    if (options['dry-run'] === true) return exit.fine
    const writing = policy === 'replace' ? keys : fresh
    if (writing === 0)
      return report(call, policy, { keys, copied: 0, kept: existing, expired: 0, gone: 0, bytes: 0, samples })
    const refused = await refusal(call, `Copy ${counted(writing, 'key')} to ${withoutPassword(to)}?`, 'copy')
    if (refused !== undefined) return refused

    const onConflict = policy === 'replace' ? 'replace' : 'keep'
    const copied = await watchChange(call, copyKeys(here, there, selection, { ...how, onConflict }), {
      doing: 'copied',
      of: { total: writing, count: (soFar) => soFar.copied },
      stopped(soFar) {
        const again: typeof options = {
          ...options,
          to: withoutPassword(to),
          'on-conflict': policy === 'replace' ? 'replace' : 'skip',
        }
        const done = counted(soFar?.copied ?? 0, 'key')
        log.say(`stopped after ${done}; to go on: ${commandLine('copy', [], again)}`)
      },
    })
    if (copied === undefined) return exit.interrupted
    return report(call, policy, copied)
  },
})

function previewLines(
  { keys, fresh, existing, samples }: CopyPreview,
  title: string,
  policy: Policy,
): string[] {
  return [
    `${counted(keys, 'key')} chosen (${title}), ${counted(fresh, 'key')} to copy`,
    ...existingLines(existing, samples, policy),
  ]
}

function report(
  { out, log }: Pick<Call<Options, RecordOf<typeof copySchema>>, 'out' | 'log'>,
  policy: Policy,
  { keys, copied, kept, expired, gone, bytes: size, samples }: CopyResult,
): ExitCode {
  const names = samples.map(escapeKey)
  out.record(
    { record: 'copied', keys, copied, kept, expired, gone, bytes: size, samples: names },
    () =>
      `${counted(copied, 'key')} copied, ${bytes(size)}` +
      (kept > 0 ? `; ${count(kept)} left as they were` : '') +
      (expired > 0 ? `; ${count(expired)} expired` : '') +
      (gone > 0 ? `; ${count(gone)} vanished before their turn came` : ''),
  )
  if (policy !== 'fail' || kept === 0) return exit.fine
  // A key may also come twice, if the server grew its table meanwhile: the first was written.
  log.say(`not all: ${names.join(' ')} came to be there after the preview, and stayed as they were`)
  return exit.findings
}
