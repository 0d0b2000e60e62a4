import type { Connection } from 'keyspec'
import type { Keys } from '../actor/world.ts'
import { generousSchema, schema } from '../schema.ts'
import { resending, sharedToken } from './connection.ts'
import * as broken from './keys.ts'

/** The planted bugs by the invariant that each breaks. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  'limiter-window': {},
  'limiter-share': {},
  'quota-exact': { keys: broken.uncountedQuota },
  'lock-exclusion': { connection: sharedToken },
  'lock-late': { keys: broken.trustingLock },
  'lock-fence': { keys: broken.sameFence },
  'queue-once': { keys: broken.forgetfulQueue },
  'queue-stuck': { keys: broken.immortalJobs },
  'queue-counters': { keys: broken.miscountingQueue },
  'cache-deleted': { keys: broken.rememberingCache },
  'cache-overtaken': { keys: broken.sharingCache },
  'near-late': { keys: broken.staleCopies },
  'swap-whole': { keys: broken.piecewiseSwap },
  'watermark-back': { keys: broken.fallingMark },
  'sequence-repeat': { keys: broken.repeatingSequence },
  'update-lost': { keys: broken.blindUpdate },
  'applied-once': { connection: resending },
  // The mover itself loses a lifetime: see actor/move.ts.
  'move-whole': {},
  settles: { keys: broken.throwingCounter },
}

interface Wrapper {
  readonly connection?: (connection: Connection) => Connection
  readonly keys?: (keys: Keys, connection: Connection) => Partial<Keys>
}

/** The names of all plants: the invariants that they break, and a leak. */
export const PLANTS: readonly string[] = [...Object.keys(WRAPPERS), 'flat']

/** Returns the connection with the bugs that stand for it. */
export function plantedConnection(connection: Connection, plants: readonly string[]): Connection {
  return plants.reduce((planted, plant) => WRAPPERS[plant]?.connection?.(planted) ?? planted, connection)
}

/** Returns the keyspace with the bugs that stand for it. */
export function plantedKeys(keys: Keys, connection: Connection, plants: readonly string[]): Keys {
  return plants.reduce((planted, plant) => {
    const wrapped = WRAPPERS[plant]?.keys?.(planted, connection)
    return wrapped === undefined ? planted : { ...planted, ...wrapped }
  }, keys)
}

/** Returns the schema: a generous one where limiters are planted. */
export function plantedSchema(plants: readonly string[]): typeof schema {
  const generous = { ...schema }
  if (plants.includes('limiter-window')) Object.assign(generous, { sliding: generousSchema.sliding })
  if (plants.includes('limiter-share')) Object.assign(generous, { fixed: generousSchema.fixed })
  return generous
}
