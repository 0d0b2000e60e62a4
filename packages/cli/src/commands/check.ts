import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import {
  type Change,
  compareManifests,
  type Impact,
  lint,
  type LintIssue,
  type Manifest,
  withEvidence,
} from '@keyspec/inspect'
import { type Call, command, type Settings, type Options, type RecordOf } from '../command.ts'
import { manifestOf } from '../config/manifest-of.ts'
import { ConfigError, exit, misused, reason } from '../failure.ts'
import { textOf } from '../file.ts'
import { schemaOptions, serverOptions } from '../options.ts'
import { shellWord } from '../render/shell.ts'
import { type Place, placeOfCall } from '../render/place.ts'
import { remedyLines } from '../render/remedy.ts'
import { counted, time } from '../render/units.ts'
import { checkLine } from './check-json.ts'

const IMPACTS: Readonly<Record<Impact, string>> = {
  safe: 'safe',
  version: 'needs a version bump',
  migration: 'needs a migration',
  breaks: 'breaks readers',
}

/** `keyspec check` */
export const check = command({
  options: {
    ...schemaOptions,
    cluster: { about: 'judge it for a cluster: what one verb touches must share a slot' },
    against: { value: 'FILE', about: 'a manifest of before: say what each change since means' },
    server: { about: 'with --against: look at the server for what lets a rename go to its next phase' },
    url: serverOptions.url,
    sentinel: serverOptions.sentinel,
    'max-load': serverOptions['max-load'],
    strict: { about: 'end with 1 on warnings too' },
  },
  examples: [
    ['keyspec check', 'what cannot be opened, and what is likely a mistake'],
    ['keyspec check --against manifest.json', 'in CI: also what has changed since the manifest was made'],
    ['keyspec check --against manifest.json --server', 'whether a rename may go to its next phase'],
  ],
  json: { form: 'lines', schema: checkLine },
  async run(call) {
    const { options, log, config } = call
    if (options.server === true && options.against === undefined)
      throw misused('--server is for check --against FILE')
    let settings: Settings
    try {
      settings = await config()
    } catch (error) {
      const issue = declarationIssue(error, call.cwd)
      if (issue === undefined) throw error
      show(call, issue)
      return exit.findings
    }
    const { schema, prefix, cluster, check: accepted } = settings
    const counts = { error: 0, warning: 0, info: 0 }
    const judged = { prefix, cluster: options.cluster ?? cluster ?? false, alike: accepted?.alike }
    for (const issue of lint(schema, judged)) {
      counts[issue.severity] += 1
      show(call, issue)
    }
    const manifest = await manifestOf(settings)
    if (options.against !== undefined) {
      const changes = compareManifests(await readManifest(options.against, call.cwd), manifest)
      const place = placeOfCall(options, call.env, settings)
      const how = { prefix, maxLoad: options['max-load'], signal: call.signal }
      const judged =
        options.server === true ? await withEvidence(changes, schema, await call.connect(), how) : changes
      for (const change of judged) {
        counts[severityOf(change)] += 1
        showChange(call, change, place)
      }
    }
    const patterns = manifest.entries.flatMap(({ keys }) => keys).length
    log.say(
      `${counted(patterns, 'key pattern')}: ` +
        `${counted(counts.error, 'error')}, ${counted(counts.warning, 'warning')}` +
        (options.against === undefined ? '' : `, ${counted(counts.info, 'safe change')}`),
    )
    return counts.error > 0 || (options.strict === true && counts.warning > 0) ? exit.findings : exit.fine
  },
})

type Shown = Pick<Call<Options, RecordOf<typeof checkLine>>, 'out'>

function show(
  { out }: Shown,
  issue: Omit<LintIssue, 'code'> & {
    readonly code: LintIssue['code'] | 'declaration'
    readonly place?: string
  },
) {
  const { severity, code, message, advice } = issue
  const sign = severity === 'error' ? out.paint.red('error') : out.paint.yellow('warning')
  out.record({ kind: 'issue', ...issue }, () => `${sign} ${code}: ${message}\n  ${advice}`)
}

function showChange({ out }: Shown, change: Change, place: Place) {
  const { impact, code, entry, pattern, message, advice, remedy, oldKeysGoneAfterMs } = change
  out.record({ kind: 'change', severity: severityOf(change), ...change }, () => {
    const sign = impact === 'safe' ? out.paint.green(IMPACTS.safe) : out.paint.red(IMPACTS[impact])
    const whose = entry === '' ? '' : `${entry} ("${pattern}"): `
    const lines = [`${sign} ${code}: ${whose}${message}`]
    if (advice !== undefined) lines.push(`  ${advice}`)
    if (remedy !== undefined) lines.push(...remedyLines(remedy, place).map((line) => `  ${line}`))
    if (impact !== 'safe' && oldKeysGoneAfterMs !== undefined)
      lines.push(
        oldKeysGoneAfterMs === 'never'
          ? '  keys of before never go by themselves'
          : `  keys of before are gone ${time(oldKeysGoneAfterMs)} after the last program that writes them`,
      )
    return lines.join('\n')
  })
}

function severityOf({ impact }: Change): 'error' | 'info' {
  return impact === 'safe' ? 'info' : 'error'
}

async function readManifest(file: string, cwd: string): Promise<Manifest> {
  const path = resolve(cwd, file)
  if (!existsSync(path)) throw misused(`there is no ${file}: keyspec manifest > ${shellWord(file)} makes one`)
  const text = await textOf(path, file)
  let read: Partial<Manifest>
  try {
    read = JSON.parse(text) as Manifest
  } catch (error) {
    throw misused(`${file} is not JSON: ${reason(error)}`)
  }
  if (read?.format !== 1 || !Array.isArray(read.entries) || !read.entries.every(isEntry))
    throw misused(`${file} is no manifest that this version reads: keyspec manifest makes one`)
  return read as Manifest
}

/** As far as it is looked at; `manifest.schema.json` says the rest. */
function isEntry(entry: Partial<Manifest['entries'][number]> | null): boolean {
  return (
    typeof entry?.entry === 'string' &&
    Array.isArray(entry.keys) &&
    entry.keys.every(
      (key: Partial<Manifest['entries'][number]['keys'][number]> | null) =>
        typeof key?.pattern === 'string' &&
        Array.isArray(key.renamedFrom) &&
        typeof key.lifetime === 'object' &&
        typeof key.params === 'object',
    )
  )
}

/** A declaration that was refused while it was made, so that there is no schema to look at: the first mistake is all one sees. */
function declarationIssue(error: unknown, cwd: string) {
  const cause = error instanceof ConfigError ? error.cause : undefined
  if (!(cause instanceof Error) || (cause as { readonly code?: unknown }).code !== 'E_SCHEMA')
    return undefined
  const pattern = /"([^"]*)"/.exec(cause.message)?.[1] ?? ''
  const place = sourceLineOf(cause, cwd)
  return {
    code: 'declaration',
    severity: 'error',
    entry: '',
    pattern,
    ...(place === undefined ? {} : { place }),
    message: `${cause.message}${place === undefined ? '' : ` (${place})`}`,
    advice: 'the schema ends here: fix this, and check again for what else there is',
  } as const
}

/** The first line of the user's own code on the way to an error. */
function sourceLineOf({ stack = '' }: Error, cwd: string): string | undefined {
  for (const line of stack.split('\n')) {
    const [, before = '', position] = /^(.*):(\d+):\d+\)?$/.exec(line) ?? []
    const start = before.lastIndexOf('(') + 1 || before.indexOf('at ') + 3
    const file = before.slice(start).replace('file://', '')
    if (
      position === undefined ||
      !file.startsWith('/') ||
      /\/node_modules\/[@\w]|\/packages\/(?:keyspec|cli)\/(?:lib|dist|src)\//.test(file)
    )
      continue
    return `${relative(cwd, file)}:${position}`
  }
  return undefined
}
