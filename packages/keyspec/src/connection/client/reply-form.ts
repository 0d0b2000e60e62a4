import { UnsupportedClientError } from '../../errors.ts'
import { type Command, firstKeyOf, type Reply, type Shape } from '../connection.ts'
import { asResp2 } from './resp2.ts'

/** The clients that the adapters are tested with, for the error about any other. */
const SUPPORTED: Readonly<Record<string, string>> = {
  'node-redis': 'node-redis 5 or 6',
  ioredis: 'ioredis 5 or 6',
  glide: 'Valkey GLIDE 2',
}

/**
 * The RESP2 form of what a client made of a reply.
 * @throws UnsupportedClientError if it is of another form, as clients of other versions give
 */
export function replyOf(client: string, reply: unknown, command: Command, shape: Shape): Reply {
  const form = asResp2(reply, command, shape.bytes === true)
  const other = otherForm(form, shape.bytes === true)
  if (other === undefined) return form
  const key = firstKeyOf(command, shape)
  const wanted = shape.bytes === true ? 'bytes' : 'text, integers, nil and arrays'
  throw new UnsupportedClientError(
    `${key === undefined ? '' : `${key}: `}this client answers ${String(command[0])} with ${other} where ` +
      `${wanted} belong: Keyspec needs a client of ${SUPPORTED[client] ?? client}`,
    key,
  )
}

/** Names the first part of a reply that is of no form of RESP2, or not in bytes where those were asked. */
function otherForm(reply: unknown, bytes: boolean): string | undefined {
  if (typeof reply === 'string') return bytes ? 'text' : undefined
  if (reply === null || typeof reply === 'number') return undefined
  if (reply instanceof Buffer) return bytes ? undefined : 'bytes'
  if (!Array.isArray(reply))
    return typeof reply === 'object' ? 'an object' : `a value of type ${typeof reply}`
  for (const item of reply) {
    const other = otherForm(item, bytes)
    if (other !== undefined) return other
  }
  return undefined
}
