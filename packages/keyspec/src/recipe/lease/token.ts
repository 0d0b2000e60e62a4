import type { Connection } from '../../connection/connection.ts'
import { digits, flag, text } from '../../script/argument.ts'
import { booleanReply } from '../../connection/reply.ts'
import { script } from '../../script/script.ts'
import * as lua from './lua.gen.ts'

const extend = script('lease/extend', {
  keys: ['key'],
  args: { token: text, ttlMs: digits },
  lua: lua.extend,
  commands: ['GET', 'PEXPIRE'],
  reply: booleanReply,
})

const release = script('lease/release', {
  keys: ['key'],
  args: { token: text, wake: flag },
  lua: lua.release,
  commands: ['DEL', 'GET', 'PUBLISH'],
  reply: booleanReply,
})

/** A key that one holder has for a time: it holds the random text by which Redis knows the holder. */
export interface HeldKey {
  readonly key: string
  readonly token: string
}

/** Lets the lease end in `ttlMs`; returns false if the token no longer holds the key. */
export function extendLease(
  connection: Connection,
  { key, token }: HeldKey,
  ttlMs: number,
): Promise<boolean> {
  return extend.run(connection, { key }, { token, ttlMs })
}

/** Deletes the key, and with `wake` tells those who wait for it; returns false if the token no longer holds the key. */
export function releaseLease(
  connection: Connection,
  { key, token }: HeldKey,
  wake: boolean,
): Promise<boolean> {
  return release.run(connection, { key }, { token, wake })
}
