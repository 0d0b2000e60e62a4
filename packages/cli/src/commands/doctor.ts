import { type Diagnosis, doctor as examine } from '@keyspec/inspect'
import { command } from '../command.ts'
import { exit } from '../failure.ts'
import { serverOptions } from '../options.ts'
import { atNode, type Place, placeOfCall } from '../render/place.ts'
import { commandLines, confLines, remedyLines } from '../render/remedy.ts'
import { counted } from '../render/units.ts'
import { remediesJson } from './remedy-json.ts'
import { toolsAsked } from '../sends.ts'

const { 'max-load': _maxLoad, ...options } = serverOptions

/** `keyspec doctor` */
export const doctor = command({
  options: { ...options, strict: { about: 'end with 1 on warnings too' } },
  examples: [
    ['keyspec doctor', 'the configured server, and what to change on it'],
    ['keyspec doctor --url redis://127.0.0.1:7000 --cluster', 'every master of a cluster'],
  ],
  json: {
    form: 'lines',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        code: { type: 'string' },
        severity: { enum: ['error', 'warning', 'info'] },
        node: { type: 'string', description: 'which master, where there are several' },
        message: { type: 'string' },
        entries: { type: 'array', items: { type: 'string' } },
        remedies: remediesJson,
        commands: { type: 'array', items: { type: 'string' }, description: 'what fixes it now' },
        conf: {
          type: 'array',
          items: { type: 'string' },
          description: 'what keeps it fixed, in redis.conf',
        },
      },
      required: ['code', 'severity', 'message'],
      additionalProperties: false,
    },
  },
  async run({ options: given, out, log, env, config, connectAnywhere, signal }) {
    const settings = await config()
    const { schema, prefix, server } = settings
    const place = placeOfCall(given, env, settings)
    const connection = await connectAnywhere()
    const counts = { error: 0, warning: 0, info: 0 }
    for await (const found of examine(schema, connection, {
      prefix,
      server,
      tools: toolsAsked(connection.cluster),
      signal,
    })) {
      counts[found.severity] += 1
      const at = atNode(place, found.node)
      out.record(recordOf(found, at), () => textOf(found, at, out.paint))
    }
    log.say(
      counts.error + counts.warning === 0
        ? 'the server fits the declaration'
        : `${counted(counts.error, 'error')}, ${counted(counts.warning, 'warning')}`,
    )
    return counts.error > 0 || (given.strict === true && counts.warning > 0) ? exit.findings : exit.fine
  },
})

interface Paint {
  red(text: string): string
  yellow(text: string): string
  dim(text: string): string
}

function recordOf({ remedies, ...found }: Diagnosis, place: Place) {
  if (remedies === undefined) return found
  const commands = remedies.flatMap((remedy) => commandLines(remedy, place))
  const conf = remedies.flatMap(confLines)
  return {
    ...found,
    remedies,
    ...(commands.length > 0 ? { commands } : {}),
    ...(conf.length > 0 ? { conf } : {}),
  }
}

function textOf(
  { severity, code, node, message, remedies = [] }: Diagnosis,
  place: Place,
  paint: Paint,
): string {
  const lines = [`${signOf(severity, paint)} ${code}${node === undefined ? '' : ` at ${node}`}: ${message}`]
  for (const remedy of remedies) for (const line of remedyLines(remedy, place)) lines.push(`  ${line}`)
  for (const line of remedies.flatMap(confLines)) lines.push(`  ${paint.dim('redis.conf:')} ${line}`)
  return lines.join('\n')
}

function signOf(severity: Diagnosis['severity'], paint: Paint): string {
  if (severity === 'error') return paint.red('error')
  return severity === 'warning' ? paint.yellow('warning') : 'info'
}
