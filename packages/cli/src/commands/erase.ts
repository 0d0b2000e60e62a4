import { validate } from 'keyspec'
import {
  erase as eraseKeys,
  type EraseResult,
  type EraseShare,
  escapeKey,
  previewErase,
  selectKeys,
} from '@keyspec/inspect'
import { command } from '../command.ts'
import { refusal } from '../confirmation.ts'
import { exit, misused } from '../failure.ts'
import { confirmOptions, selectionOf, selectionOptions, serverOptions } from '../options.ts'
import { commandLine } from '../render/command-line.ts'
import { bytes, count, counted } from '../render/units.ts'
import { watch, watchChange } from '../terminal/watch.ts'
import { table } from '../render/table.ts'
import { eraseSchema } from './erase-json.ts'

/** `keyspec erase` */
export const erase = command({
  options: {
    ...serverOptions,
    ...selectionOptions,
    all: { about: 'all keys of the keyspace, where nothing narrower is chosen' },
    external: { about: 'keys of other programs too, such as a queue’s' },
    rate: { value: 'KEYS', number: true, most: Infinity, about: 'delete at most so many keys a second' },
    'dry-run': { about: 'only show what would go' },
    ...confirmOptions,
  },
  examples: [
    ['keyspec erase --subject userId=42', 'a person, in every entry that knows them; asks first'],
    ['keyspec erase --entry session --dry-run', 'how many keys of an entry would go, and their memory'],
    ['keyspec erase --under cache: --rate 500 --yes', 'what begins with cache:, slowly, without asking'],
  ],
  json: { form: 'lines', schema: eraseSchema },
  async run(call) {
    const { options, out, log, signal } = call
    const settings = await call.config()
    const chosen = selectionOf(options, settings)
    const isNarrowed = [chosen.entries, chosen.under, chosen.subject].some((each) => each !== undefined)
    if (!isNarrowed && options.all !== true)
      throw misused('say which keys: --entry, --under, --subject, or --all for the whole keyspace')
    if (isNarrowed && options.all === true)
      throw misused('--all is every key of the keyspace: leave it out, or what narrows it')
    validate(settings.schema, { prefix: settings.prefix })
    const { title } = selectKeys(settings.schema, chosen)
    const how = {
      ...chosen,
      external: options.external,
      rate: options.rate,
      maxLoad: options['max-load'],
      signal,
    }
    const connection = await call.connect()

    const preview = await watch(call, previewErase(settings.schema, connection, how), { done: 'found' })
    const isDry = options['dry-run'] === true
    const lines = previewText(preview.shares, title)
    if (isDry) {
      if (out.json) for (const row of preview.shares) out.record(previewRecord(row), () => '')
      out.record({ record: 'total', keys: preview.keys, bytes: preview.bytes, dryRun: true }, () =>
        lines(out.paint),
      )
      return exit.fine
    }
    log.say(lines(log.paint))
    if (preview.keys === 0) {
      out.record({ record: 'total', keys: 0, dryRun: false }, () => 'nothing was erased')
      return exit.fine
    }
    const refused = await refusal(call, `Erase ${counted(preview.keys, 'key')}?`, 'erase')
    if (refused !== undefined) return refused

    const finish = ({ keys: all, shares }: EraseResult) => {
      for (const { entry, program, keys } of shares.filter((row) => !row.spared && row.keys > 0))
        out.record(
          { record: 'erased', entry: entry ?? null, program: program ?? null, keys },
          () => `${entry ?? '(no entry)'}: ${counted(keys, 'key')} erased`,
        )
      out.record({ record: 'total', keys: all, dryRun: false }, () => `${counted(all, 'key')} erased`)
    }
    const erased = await watchChange(call, eraseKeys(settings.schema, connection, how), {
      doing: 'erased',
      of: { total: preview.keys, count: ({ keys }) => keys },
      stopped(soFar = NOTHING) {
        finish(soFar)
        const again = commandLine('erase', [], options)
        log.say(`stopped after ${counted(soFar.keys, 'key')}; to go on: ${again}`)
      },
    })
    if (erased === undefined) return exit.interrupted
    finish(erased)
    return exit.fine
  },
})

const NOTHING: EraseResult = { keys: 0, bytes: 0, shares: [] }

function previewRecord({ entry, program, forever, spared, keys, bytes: size, samples }: EraseShare) {
  return {
    record: 'preview' as const,
    entry: entry ?? null,
    program: program ?? null,
    forever,
    spared,
    keys,
    bytes: size,
    samples: samples.map(escapeKey),
  }
}

function previewText(rows: readonly EraseShare[], title: string) {
  return (paint: Parameters<typeof table>[2]): string => {
    const going = rows.filter(({ spared }) => !spared)
    const staying = rows.filter(({ spared }) => spared)
    const lines = [paint.bold(title)]
    if (going.length === 0) lines.push('no key would go')
    else {
      const columns = [
        { head: 'entry' },
        { head: 'keys', right: true },
        { head: 'memory', right: true },
        { head: 'such as' },
      ]
      const cells = going.map(({ entry, keys, bytes: size, samples }) => [
        entry ?? '(no entry)',
        count(keys),
        bytes(size),
        shortened(samples.map(escapeKey)),
      ])
      lines.push(table(columns, cells, paint))
    }
    const lasting = going.filter(({ forever }) => forever)
    if (lasting.length > 0)
      lines.push(
        paint.yellow(
          `declared to live forever, and nothing makes them again: ${lasting.map(({ entry }) => entry).join(', ')}`,
        ),
      )
    for (const { entry, program, keys, spared } of rows.filter((row) => row.program !== undefined))
      lines.push(
        spared
          ? `kept: ${counted(keys, 'key')} of ${entry}, which ${program} owns; --external erases them too`
          : paint.yellow(`${entry} is owned by another program: ${program}`),
      )
    if (going.length === 0 && staying.length === 0) lines.push('nothing is there')
    return lines.join('\n')
  }
}

function shortened(samples: readonly string[]): string {
  const all = samples.join(' ')
  return all.length <= 80 ? all : `${all.slice(0, 79)}…`
}
