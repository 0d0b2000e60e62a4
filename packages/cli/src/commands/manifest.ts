import { manifestSchema } from '@keyspec/inspect'
import { command } from '../command.ts'
import { manifestOf } from '../config/manifest-of.ts'
import { exit } from '../failure.ts'
import { schemaOptions } from '../options.ts'

/** `keyspec manifest` */
export const manifest = command({
  options: schemaOptions,
  examples: [
    ['keyspec manifest > manifest.json', 'keep what is declared today, for keyspec check --against'],
    ['keyspec manifest --json', 'the same on one line'],
  ],
  json: { form: 'document', schema: manifestSchema },
  async run({ out, config }) {
    const made = await manifestOf(await config())
    out.record(made, () => JSON.stringify(made, undefined, 2))
    return exit.fine
  },
})
