import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { renderDocs, type RenderDocsOptions } from '@keyspec/inspect'
import { docsCommands } from '../render/docs-commands.ts'
import { command } from '../command.ts'
import { manifestOf } from '../config/manifest-of.ts'
import { exit, misused } from '../failure.ts'
import { textOf, writeText } from '../file.ts'
import { schemaOptions } from '../options.ts'
import { difference } from '../render/difference.ts'
import { blockIn, BEGIN, END } from './docs-block.ts'

/** `keyspec docs` */
export const docs = command({
  options: {
    ...schemaOptions,
    out: {
      value: 'FILE',
      about: 'write there instead of to the page of the configuration; - is standard output',
    },
    check: { about: 'write nothing: end with 1 if the page is stale, and show where' },
  },
  examples: [
    ['keyspec docs', 'print the page, or write it where the configuration says'],
    ['keyspec docs --out README.md', `write it between ${BEGIN} and ${END}`],
    ['keyspec docs --check', 'in CI: fail when the page is stale'],
  ],
  json: {
    form: 'document',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        page: { type: 'string', description: 'the file, from the working folder; absent on standard output' },
        state: { enum: ['printed', 'written', 'fresh', 'stale'] },
        markdown: { type: 'string' },
      },
      required: ['state', 'markdown'],
      additionalProperties: false,
    },
  },
  async run({ options, out, log, config, cwd }) {
    const settings = await config()
    const manifest = await manifestOf(settings)
    const { page: own, title = 'Keys', intro } = settings.docs ?? {}
    const file =
      options.out === undefined
        ? own === undefined
          ? undefined
          : resolve(settings.folder, own)
        : options.out === '-'
          ? undefined
          : resolve(cwd, options.out)
    const made = (place: Pick<RenderDocsOptions, 'title' | 'level'>) =>
      renderDocs(manifest, { intro, commands: docsCommands, ...place })
    if (file === undefined) {
      if (options.check === true)
        throw misused('there is no page to check: give --out FILE, or say docs.page')
      const markdown = made({ title })
      out.record({ state: 'printed', markdown }, () => markdown.trimEnd())
      return exit.fine
    }
    const page = relative(cwd, file)
    const text = existsSync(file) ? await textOf(file, page) : undefined
    const block = text === undefined ? undefined : blockIn(text)
    if (text !== undefined && block === undefined)
      throw misused(`${page} has no ${BEGIN} with ${END} behind it: put both where the page is to stand`)
    const markdown = made(block?.level === undefined ? { title } : { level: block.level })
    const before = block?.before ?? ''
    const whole = `${before}${BEGIN}\n${markdown}${END}${block?.after ?? '\n'}`
    if (text === whole) {
      out.record({ page, state: 'fresh', markdown }, () => `${page} is fresh`)
      return exit.fine
    }
    if (options.check === true) {
      out.record({ page, state: 'stale', markdown }, () => difference(text ?? '', whole))
      log.say(`${page} is stale: keyspec docs writes it anew`)
      return exit.findings
    }
    await writeText(file, page, whole)
    out.record({ page, state: 'written', markdown }, () => `${page} is written`)
    return exit.fine
  },
})
