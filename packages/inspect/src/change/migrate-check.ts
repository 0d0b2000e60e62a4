import { type Codec, type Connection, ServerError } from 'keyspec'
import { bytesReply, decodeReply, decodeStored, ONE_KEY, ONE_KEY_BYTES, optionalReply } from 'keyspec/extend'
import { escapeKey } from '../match/key-name.ts'
import { numberOf } from '../scan/replies.ts'
import type { RenameRule } from '../match/rename-rules.ts'
import type { KeyFacts } from '../scan/scan.ts'

const MOST_BYTES = 1 << 20

/**
 * What is wrong with a key at its new name, or that its value was `decoded`; `undefined` where nothing is to be said. Only
 * strings of ours are decoded, up to 1 MB.
 */
export async function checkKey(
  connection: Connection,
  { rule: { spec }, key, type, ttlMs }: KeyFacts & { readonly rule: RenameRule },
  decodes: boolean,
): Promise<'without-ttl' | 'undecodable' | 'decoded' | undefined> {
  if (ttlMs === 'forever' && spec.lifetime.ttlMs !== 'forever') return 'without-ttl'
  if (!decodes || spec.external !== undefined || spec.type !== 'string') return undefined
  if (type !== 'string') return 'undecodable'
  try {
    if ((await numberOf(connection, ['STRLEN', key], ONE_KEY)) > MOST_BYTES) return undefined
    const reply = await connection.send(['GET', key], ONE_KEY_BYTES)
    const stored = decodeReply(optionalReply(bytesReply), reply, escapeKey(key))
    return stored === undefined
      ? undefined
      : isDecodable(spec.codec as Codec<unknown>, stored)
        ? 'decoded'
        : 'undecodable'
  } catch (error) {
    // It became another type just now.
    if (error instanceof ServerError && error.code === 'E_WRONG_TYPE') return undefined
    throw error
  }
}

function isDecodable(codec: Codec<unknown>, stored: Buffer): boolean {
  try {
    decodeStored(codec, stored)
    return true
  } catch {
    return false
  }
}
