import type { Connection, Schema } from 'keyspec'
import type { Permission } from '../permission/acl-rules.ts'
import { permissionsOf, permissionsOfTools, probePermissions } from '../permission/permissions.ts'
import { configured, type Diagnosis } from './diagnosis.ts'
import type { NodeFacts } from './node-facts.ts'

/** Who may come in, and whether we may do what must be done. */
export function* access({ config, user, userFlags, mayEval }: NodeFacts): Generator<Diagnosis> {
  const listens = config.get('port') !== '0' || (config.get('tls-port') ?? '0') !== '0'
  const isOpen = config.get('protected-mode') === 'no' && listens && !isLocal(config.get('bind'))
  if (user === 'default' && userFlags?.includes('nopass') === true && isOpen) {
    const message =
      'anybody who reaches the server may do anything: it listens everywhere, without protected-mode and password'
    yield configured({ code: 'open-to-all', severity: 'warning', message }, [['protected-mode', 'yes']])
  }
  if (!mayEval) {
    const message = `the user ${user ?? 'of this connection'} may not run scripts, and every atomic verb is one`
    yield {
      code: 'permission',
      severity: 'error',
      message,
      remedies: [{ kind: 'allow', user, rules: ['+eval', '+evalsha'] }],
    }
  }
}

/** What the user of a connection may not do that the verbs of the schema need, and the ACL rules that give exactly that. */
export async function* permissions(
  schema: Schema,
  prefix: string,
  node: Connection,
  {
    mayEval,
    cluster,
    tools,
  }: {
    readonly mayEval: boolean
    readonly cluster: boolean
    readonly tools: { readonly [tool: string]: readonly string[] }
  },
): AsyncGenerator<Diagnosis> {
  const ofSchema = permissionsOf(schema, prefix, { cluster })
  const needs = ofSchema.filter(({ rule }) => mayEval || !EVAL.has(rule))
  const ofTools = permissionsOfTools(tools, prefix)
  // In one question, since a user is asked about commands with a key that it may touch.
  const probed = await probePermissions([...needs, ...ofTools], node)
  const [missing, unknown] = [probed.missing, probed.unknown].map((all) =>
    all.filter((each) => needs.includes(each)),
  ) as [Permission[], Permission[]]
  const { user } = probed
  const required = missing.filter(({ isOptional }) => !isOptional)
  const optional = missing.filter(({ isOptional }) => isOptional)
  if (required.length > 0) yield lacking(user, required, 'error', 'must have')
  if (optional.length > 0) yield lacking(user, optional, 'info', 'use to wake those who wait at once')
  const lacks = probed.missing.filter((each) => ofTools.includes(each))
  if (lacks.length > 0) yield barred(user, lacks, Object.keys(tools))
  if (unknown.length === 0) return
  const rules = unknown.map(({ rule }) => rule).join(' ')
  const message = `whether ${user ?? 'the user of this connection'} has these permissions could not be seen: ${rules}`
  yield { code: 'unseen', severity: 'info', message }
}

/** The tools that a user may not run, with the rules that let it run each, and those that it may. */
function barred(user: string | undefined, lacks: readonly Permission[], tools: readonly string[]): Diagnosis {
  const barredTools = tools.filter((tool) => lacks.some(({ entries }) => entries.includes(tool)))
  const others = tools.filter((tool) => !barredTools.includes(tool))
  const message =
    `the user ${user ?? 'of this connection'} may not run ${barredTools.join(', ')}` +
    (others.length === 0 ? '' : `; it may run ${others.join(', ')}`)
  const remedies = barredTools.map((tool) => {
    const rules = lacks.filter(({ entries }) => entries.includes(tool)).map(({ rule }) => rule)
    return { kind: 'allow' as const, user, rules, tool }
  })
  return { code: 'permission', severity: 'info', message, remedies }
}

const EVAL: ReadonlySet<string> = new Set(['+eval', '+evalsha'])

function lacking(
  user: string | undefined,
  missing: readonly Permission[],
  severity: Diagnosis['severity'],
  how: string,
): Diagnosis {
  const entries = [...new Set(missing.flatMap((each) => each.entries))]
  const rules = missing.map(({ rule }) => rule)
  const message = `the user ${user ?? 'of this connection'} lacks ${rules.join(' ')}, which ${entries.join(', ')} ${how}`
  return { code: 'permission', severity, message, entries, remedies: [{ kind: 'allow', user, rules }] }
}

function isLocal(bind: string | undefined): boolean {
  if (bind === undefined || bind.trim() === '') return false
  return bind
    .trim()
    .split(/\s+/)
    .every((address) => /^-?(127\.|::1$|localhost$)/.test(address))
}
