import type { Duration } from 'keyspec'
import { validate } from 'keyspec'
import {
  diffArchive,
  type Difference,
  diffServers,
  type DiffResult,
  type DiffStep,
  escapeKey,
  inspectArchive,
  type Operation,
  selectKeys,
  type Side,
} from '@keyspec/inspect'
import { type Call, command, type Options, type RecordOf } from '../command.ts'
import { exit, type ExitCode, misused } from '../failure.ts'
import { selectionOf, selectionOptions, serverOptions } from '../options.ts'
import { counted, time } from '../render/units.ts'
import { watch, watchChange } from '../terminal/watch.ts'
import { withArchive } from './archive-file.ts'
import { count as amount, object } from './record-schema.ts'

const options = {
  ...serverOptions,
  ...selectionOptions,
  'ttl-tolerance': { value: 'TIME', about: 'how far expiries may be apart, as 500ms or 1m (5s unless told)' },
  'other-cluster': { about: 'the other URL is of a node of a cluster' },
} as const

const side = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    ttlMs: { anyOf: [{ type: 'integer' }, { const: 'forever' }] },
  },
  required: ['type', 'ttlMs'],
  additionalProperties: false,
} as const

const diffSchema = {
  oneOf: [
    {
      type: 'object',
      properties: {
        record: { const: 'difference' },
        key: { type: 'string' },
        entry: { type: ['string', 'null'], description: 'null: no entry owns it' },
        kind: { enum: ['only-here', 'only-there', 'different'] },
        what: {
          type: 'array',
          items: { enum: ['type', 'value', 'ttl', 'bytes'] },
          description: 'bytes: the dumps differ, and whether the values do cannot be told',
        },
        here: { ...side, description: 'on the configured server; absent where it is not there' },
        there: { ...side, description: 'on the other side' },
      },
      required: ['record', 'key', 'entry', 'kind', 'what'],
      additionalProperties: false,
    },
    object({
      record: { const: 'summary' },
      compared: amount,
      onlyHere: amount,
      onlyThere: amount,
      different: amount,
    }),
  ],
} as const

/** `keyspec diff` */
export const diff = command({
  operands: 'URL|FILE',
  options,
  examples: [
    ['keyspec diff redis://other:6379', 'this server and another'],
    ['keyspec diff sessions.keyspec --entry session', 'this server and an export of it'],
    ['keyspec diff redis://other:6379 --under cache: --ttl-tolerance 1m', 'some keys, their expiry roughly'],
  ],
  json: {
    form: 'lines',
    schema: diffSchema,
  },
  async run(call) {
    const [other] = call.operands
    if (other === undefined) throw misused('keyspec diff takes another server’s URL, or an export')
    const settings = await call.config()
    const { schema, prefix } = settings
    validate(schema, { prefix })
    const selection = selectKeys(schema, selectionOf(call.options, settings))
    const how = {
      ttlTolerance: call.options['ttl-tolerance'] as Duration | undefined,
      maxLoad: call.options['max-load'],
      signal: call.signal,
    }
    if (other.includes('://')) {
      const [here, there] = [
        await call.connect(),
        await call.connectTo({ url: other, cluster: call.options['other-cluster'], flag: '--other-cluster' }),
      ]
      return report(call, diffServers(here, there, selection, how))
    }
    return withArchive(other, call.cwd, async (source) => {
      const { records } = await watch(call, inspectArchive(source, { signal: call.signal }), { done: 'read' })
      return report(call, diffArchive(await call.connect(), source, records, selection, how))
    })
  },
})

async function report(
  call: Call<Options, RecordOf<typeof diffSchema>>,
  comparing: Operation<DiffResult, DiffStep>,
): Promise<ExitCode> {
  const { out, log } = call
  const found = await watchChange(call, comparing, {
    done: 'compared',
    each({ differences }) {
      if (differences.length > 0) log.done()
      for (const difference of differences) out.record(recordOf(difference), () => textOf(difference))
    },
    stopped: (soFar) =>
      log.say(`stopped after ${counted(soFar?.compared ?? 0, 'key')}: what was found until then is shown`),
  })
  if (found === undefined) return exit.interrupted
  const { compared, onlyHere, onlyThere, different } = found
  const some = onlyHere + onlyThere + different
  out.record({ record: 'summary', compared, onlyHere, onlyThere, different }, () =>
    some === 0
      ? `${counted(compared, 'key')} compared, all alike`
      : `${counted(compared, 'key')} compared: ${onlyHere} only here, ${onlyThere} only there, ${different} different`,
  )
  return some === 0 ? exit.fine : exit.findings
}

function recordOf({ key, entry, kind, what, here, there }: Difference) {
  return { record: 'difference' as const, key: escapeKey(key), entry: entry ?? null, kind, what, here, there }
}

function textOf({ key, kind, what, here, there }: Difference): string {
  const name = escapeKey(key)
  if (here === undefined || there === undefined) return `${kind.replace('-', ' ').padEnd(10)}  ${name}`
  const how = what.map((each) => {
    if (each === 'type') return `a ${here.type} here, a ${there.type} there`
    if (each === 'ttl') return `${expiry(here)} here, ${expiry(there)} there`
    return each === 'value' ? 'another value' : 'other bytes, perhaps another value'
  })
  return `different   ${name}: ${how.join('; ')}`
}

function expiry({ ttlMs }: Side): string {
  return ttlMs === 'forever' ? 'never expires' : `expires in ${time(ttlMs)}`
}
