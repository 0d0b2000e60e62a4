import { describeLifetime } from 'keyspec'
import { keyFrom, look, matcher, shown } from 'keyspec/inspect'
import { command } from '../command.ts'
import { exit, misused } from '../failure.ts'
import { serverOptions } from '../options.ts'
import { bytes, time } from '../render/units.ts'

/** `keyspec explain KEY` */
export const explain = command({
  operands: 'KEY',
  options: serverOptions,
  examples: [['keyspec explain session:42', 'the entry, its lifetime, what is there']],
  json: { form: 'document', schema: { type: 'object' } },
  async run({ operands: [text], out, config, connect }) {
    if (text === undefined) throw misused('keyspec explain takes a key')
    const { schema, prefix } = await config()
    const key = keyFrom(text)
    const [seen] = await look(await connect(), [key], ['ttl', 'memory', 'encoding', 'idle'])
    const owned = matcher(schema, prefix).match(key.toString())
    out.record(
      { key: shown(key), entry: owned?.entry, pattern: owned?.pattern.text, ...seen, name: undefined },
      () =>
        [
          shown(key),
          owned === undefined
            ? 'no entry owns it'
            : `${owned.entry}  ${describeLifetime(owned.spec.lifetime)}`,
          seen === undefined
            ? 'there is no such key'
            : `${seen.type} ${seen.encoding}, ${bytes(seen.bytes!)}, ${seen.ttlMs === 'forever' ? 'never expires' : time(seen.ttlMs!)}`,
        ].join('\n'),
    )
    return owned === undefined ? exit.findings : exit.fine
  },
})
