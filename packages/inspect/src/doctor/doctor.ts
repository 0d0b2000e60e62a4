import { type Connection, type Schema, ServerError } from 'keyspec'
import { decodeReply, NO_KEY, textReply } from 'keyspec/extend'
import { access, permissions } from './access.ts'
import type { Diagnosis } from './diagnosis.ts'
import { health } from './health.ts'
import { memory } from './memory.ts'
import { type NodeFacts, nodeFacts } from './node-facts.ts'
import { persistence } from './persistence.ts'
import { serverNeeds, type ServerNeeds, type ServerPolicy } from './server-needs.ts'

/** How a server is judged. */
export interface DoctorOptions {
  readonly prefix?: string | undefined
  /** What is declared of the server itself. */
  readonly server?: ServerPolicy | undefined
  /**
   * Tools by name, and every Redis command that each sends to the keys of the keyspace. The doctor says which of them the user
   * of the connection may not run.
   */
  readonly tools?: { readonly [tool: string]: readonly string[] } | undefined
  readonly signal?: AbortSignal | undefined
}

/** Holds every master against what is declared; it only reads, and what the user may not ask is said rather than guessed. */
export async function* doctor(
  schema: Schema,
  connection: Connection,
  { prefix = '', server = {}, tools = {}, signal }: DoctorOptions = {},
): AsyncGenerator<Diagnosis> {
  const needs = serverNeeds(schema, prefix, server)
  const masters = await connection.masters()
  for (const [index, master] of masters.entries()) {
    signal?.throwIfAborted()
    const facts = await nodeFacts(master)
    const place = masters.length === 1 ? {} : { node: await addressOf(master, index) }
    for (const found of diagnose(facts, needs, connection.cluster)) yield { ...found, ...place }
    // Users are the same on every node.
    if (index > 0) continue
    const { mayEval } = facts
    const { cluster } = connection
    for await (const found of permissions(schema, prefix, master, { mayEval, cluster, tools }))
      yield { ...found, ...place }
  }
}

/** All that the facts of one server say against it, the worst first in each field. */
export function* diagnose(
  facts: NodeFacts,
  needs: ServerNeeds,
  connectsCluster: boolean,
): Generator<Diagnosis> {
  yield* health(facts, connectsCluster)
  yield* memory(facts, needs)
  yield* persistence(facts, needs)
  yield* access(facts)
  for (const { command, words } of facts.unseen) {
    const subcommand = command.split(' ').slice(0, 2).join('|').toLowerCase()
    yield {
      code: 'unseen',
      severity: 'info',
      message: `${command} could not be asked: ${words}`,
      remedies: [{ kind: 'allow', user: facts.user, rules: [`+${subcommand}`] }],
    }
  }
}

async function addressOf(master: Connection, index: number): Promise<string> {
  try {
    const nodes = decodeReply(textReply, await master.send(['CLUSTER', 'NODES'], NO_KEY))
    const own = nodes.split('\n').find((line) => line.includes('myself'))
    return own?.split(' ')[1]?.split('@')[0] ?? `master ${index + 1}`
  } catch (error) {
    if (error instanceof ServerError) return `master ${index + 1}`
    throw error
  }
}
