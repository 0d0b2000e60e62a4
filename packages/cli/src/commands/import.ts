import {
  type ArchiveSource,
  escapeKey,
  type ImportResult,
  importKeys,
  type ImportPreview,
  inspectArchive,
  previewImport,
  schemaDigest,
} from '@keyspec/inspect'
import { type Call, command, type Options, type RecordOf } from '../command.ts'
import { refusal } from '../confirmation.ts'
import { exit, type ExitCode, misused } from '../failure.ts'
import { confirmOptions, serverOptions } from '../options.ts'
import { existingLines } from '../render/existing.ts'
import { commandLine } from '../render/command-line.ts'
import { count, counted } from '../render/units.ts'
import { watch, watchChange } from '../terminal/watch.ts'
import { withArchive } from './archive-file.ts'
import { contentsRecord, contentsText } from './import-contents.ts'
import { importSchema } from './import-json.ts'

const POLICIES = ['fail', 'skip', 'replace'] as const
const options = {
  ...serverOptions,
  inspect: { about: 'only show what the file holds; needs no server' },
  'on-conflict': {
    value: 'fail|skip|replace',
    about: 'where keys are there already: write nothing (unless told), leave them, or replace them',
  },
  strip: { value: 'TEXT', about: 'take this from the beginning of every key' },
  add: { value: 'TEXT', about: 'put this before every key' },
  'dry-run': { about: 'only show what would be written' },
  ...confirmOptions,
} as const

/** `keyspec import` */
export const importCommand = command({
  operands: 'FILE',
  options,
  examples: [
    ['keyspec import sessions.keyspec --inspect', 'what is in a file, and whether it is whole'],
    ['keyspec import sessions.keyspec', 'write its keys, unless one of them is there already; asks first'],
    ['keyspec import sessions.keyspec --on-conflict skip --yes', 'write those that are not there'],
    ['keyspec import old.keyspec --strip doc: --add cache:doc:', 'under other names'],
  ],
  json: { form: 'lines', schema: importSchema },
  async run(call) {
    const [file] = call.operands
    if (file === undefined) throw misused('keyspec import takes a file')
    const policy = POLICIES.find((each) => each === (call.options['on-conflict'] ?? 'fail'))
    if (policy === undefined) throw misused(`--on-conflict is ${POLICIES.join(', ')}`)
    return withArchive(file, call.cwd, (source) => read(call, file, source, policy))
  },
})

async function read(
  call: Call<typeof options, RecordOf<typeof importSchema>>,
  file: string,
  source: ArchiveSource,
  policy: (typeof POLICIES)[number],
): Promise<ExitCode> {
  const { out, log, signal } = call
  const contents = await watch(call, inspectArchive(source, { signal }), { done: 'read' })
  if (call.options.inspect === true) {
    out.record(contentsRecord(contents), () => contentsText(contents, out.paint))
    return exit.fine
  }

  const { schema } = await call.config()
  const connection = await call.connect()
  if (contents.header.schema !== schemaDigest(schema))
    log.say(
      'the schema is another than the one these keys were exported by: see that they still mean the same',
    )
  const { strip, add, 'max-load': maxLoad } = call.options
  const how = { strip, add, maxLoad, signal }
  const preview = await watch(call, previewImport(connection, source, how), { doing: 'looked for' })
  for (const line of previewLines(preview, policy)) log.say(line)
  const { records: keys, fresh, existing, expired, samples } = preview
  if (out.json)
    out.record(
      { record: 'preview', keys, fresh, existing, expired, samples: samples.map(escapeKey) },
      () => '',
    )
  if (existing > 0 && policy === 'fail') {
    log.say('nothing was written; --on-conflict skip leaves those that are there, replace replaces them')
    return exit.findings
  }
  if (call.options['dry-run'] === true) return exit.fine
  const writing = policy === 'replace' ? fresh + existing : fresh
  if (writing === 0)
    return report(call, policy, { records: keys, restored: 0, kept: existing, expired, samples })
  const refused = await refusal(call, `Write ${counted(writing, 'key')}?`, 'import')
  if (refused !== undefined) return refused

  const onConflict = policy === 'replace' ? 'replace' : 'keep'
  const imported = await watchChange(call, importKeys(connection, source, { ...how, onConflict }), {
    doing: 'written',
    of: { total: writing, count: ({ restored }) => restored },
    stopped(soFar) {
      const again: typeof call.options = {
        ...call.options,
        'on-conflict': policy === 'replace' ? 'replace' : 'skip',
      }
      const done = counted(soFar?.restored ?? 0, 'key')
      log.say(`stopped after ${done}; to go on: ${commandLine('import', [file], again)}`)
    },
  })
  if (imported === undefined) return exit.interrupted
  return report(call, policy, imported)
}

function previewLines(
  { records, fresh, existing, expired, samples }: ImportPreview,
  policy: string,
): string[] {
  return [
    `${counted(records, 'key')} in the file, ${counted(fresh, 'key')} to write`,
    ...(expired > 0 ? [`${counted(expired, 'key')} expired since the export, and left out`] : []),
    ...existingLines(existing, samples, policy),
  ]
}

function report(
  { out, log }: Pick<Call<Options, RecordOf<typeof importSchema>>, 'out' | 'log'>,
  policy: (typeof POLICIES)[number],
  { records, restored, kept, expired, samples }: ImportResult,
): ExitCode {
  out.record(
    { record: 'imported', keys: records, restored, kept, expired, samples: samples.map(escapeKey) },
    () =>
      `${counted(restored, 'key')} written` +
      (kept > 0 ? `, ${count(kept)} left as they were` : '') +
      (expired > 0 ? `, ${count(expired)} expired` : ''),
  )
  if (policy !== 'fail' || kept === 0) return exit.fine
  // A key may also stand twice in an export, if the server grew its table meanwhile: the first was written.
  log.say(
    `not all: ${samples.map(escapeKey).join(' ')} came to be there after the preview, and stayed as they were`,
  )
  return exit.findings
}
