import { resolve } from 'node:path'
import { validate } from 'keyspec'
import { exportKeys, selectKeys } from '@keyspec/inspect'
import { command } from '../command.ts'
import { exit, misused } from '../failure.ts'
import { selectionOf, selectionOptions, serverOptions } from '../options.ts'
import { commandLine } from '../render/command-line.ts'
import { table } from '../render/table.ts'
import { bytes, count, counted } from '../render/units.ts'
import { watchChange } from '../terminal/watch.ts'
import { version } from '../version.ts'
import { wholeFile } from './export-file.ts'

const amount = { type: 'integer', minimum: 0 } as const

/** `keyspec export` */
export const exportCommand = command({
  options: {
    ...serverOptions,
    ...selectionOptions,
    out: { value: 'FILE', about: 'where to: a file, or - for standard output' },
    force: { about: 'replace FILE if it is there' },
  },
  examples: [
    ['keyspec export --entry session --out sessions.keyspec', 'all keys of an entry'],
    ['keyspec export --under cache: --out cache.keyspec', 'all keys that begin with cache:'],
    ['keyspec export --out - | ssh backup "cat > shop.keyspec"', 'the whole keyspace, to elsewhere'],
  ],
  json: {
    form: 'document',
    schema: {
      type: 'object',
      properties: {
        file: { type: 'string' },
        fileBytes: amount,
        title: { type: 'string', description: 'what was chosen, in words' },
        keys: amount,
        bytes: { ...amount, description: 'of keys and dumped values, before compression' },
        gone: { ...amount, description: 'keys that were found and had vanished when their turn came' },
        entries: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              entry: { type: ['string', 'null'], description: 'null: no entry owns these keys' },
              keys: amount,
              bytes: amount,
            },
            required: ['entry', 'keys', 'bytes'],
            additionalProperties: false,
          },
        },
      },
      required: ['file', 'fileBytes', 'title', 'keys', 'bytes', 'gone', 'entries'],
      additionalProperties: false,
    },
  },
  async run(call) {
    const { options, out, log, signal, cwd, config, connect } = call
    const file = options.out
    if (file === undefined) throw misused('keyspec export takes --out FILE, or --out - for standard output')
    const toStandardOutput = file === '-'
    if (toStandardOutput && out.json)
      throw misused('with --out - standard output is the export: leave --json out')
    if (toStandardOutput && out.isTerminal)
      throw misused('an export is no text for a terminal: give --out FILE')
    const { schema, prefix, ...settings } = await config()
    validate(schema, { prefix })
    const selection = selectKeys(schema, selectionOf(options, { schema, prefix, ...settings }))
    const connection = await connect()
    const target = toStandardOutput
      ? { write: out.bytes, finish: async () => {}, discard: async () => {} }
      : await wholeFile(resolve(cwd, file), options.force === true)

    let fileBytes = 0
    const how = { schema, prefix, keyspec: version(), maxLoad: options['max-load'], signal }
    const exported = await watchChange(call, exportKeys(connection, selection, how), {
      say: ({ done }) => `${counted(done, 'key')}, ${bytes(fileBytes)} written`,
      async each(step) {
        fileBytes += step.bytes.length
        await target.write(step.bytes)
      },
      stopped(soFar) {
        const again = commandLine('export', [], options)
        log.say(
          `stopped after ${counted(soFar?.keys ?? 0, 'key')}: there is no export; to begin again: ${again}`,
        )
      },
    }).catch(async (error: unknown) => {
      await target.discard()
      throw error
    })
    if (exported === undefined) {
      await target.discard()
      return exit.interrupted
    }
    await target.finish().catch(async (error: unknown) => {
      await target.discard()
      throw error
    })

    const entries = exported.entries
      .map(({ entry = null, ...sum }) => ({ entry, ...sum }))
      .toSorted((a, b) => b.bytes - a.bytes)
    if (out.json) {
      const { keys, gone, bytes: size } = exported
      out.record({ file, fileBytes, title: selection.title, keys, bytes: size, gone, entries }, () => '')
      return exit.fine
    }
    const columns = [{ head: 'entry' }, { head: 'keys', right: true }, { head: 'values', right: true }]
    const rows = entries.map((sum) => [sum.entry ?? '(no entry)', count(sum.keys), bytes(sum.bytes)])
    log.say(table(columns, rows, log.paint))
    if (exported.gone > 0) log.say(`${counted(exported.gone, 'key')} vanished before their turn came`)
    log.say(
      `${counted(exported.keys, 'key')} exported (${selection.title}), ` +
        `${bytes(exported.bytes)} in ${bytes(fileBytes)}${toStandardOutput ? '' : `: ${file}`}`,
    )
    return exit.fine
  },
})
