import { appliedOnce } from './applied-once.ts'
import { cacheDeleted } from './cache-deleted.ts'
import { cacheOvertaken } from './cache-overtaken.ts'
import { limiterShare } from './limiter-share.ts'
import { limiterWindow } from './limiter-window.ts'
import { lockExclusion } from './lock-exclusion.ts'
import { lockFence } from './lock-fence.ts'
import { lockLate } from './lock-late.ts'
import type { Model } from './model.ts'
import { moveWhole } from './move-whole.ts'
import { nearLate } from './near-late.ts'
import { queueCounters } from './queue-counters.ts'
import { queueOnce } from './queue-once.ts'
import { queueStuck } from './queue-stuck.ts'
import { quotaExact } from './quota-exact.ts'
import { sequenceRepeat } from './sequence-repeat.ts'
import { settles } from './settles.ts'
import { swapWhole } from './swap-whole.ts'
import { updateLost } from './update-lost.ts'
import { watermarkBack } from './watermark-back.ts'

/** Every invariant. */
export const models: readonly Model[] = [
  limiterWindow,
  limiterShare,
  quotaExact,
  lockExclusion,
  lockLate,
  lockFence,
  queueOnce,
  queueStuck,
  queueCounters,
  cacheDeleted,
  cacheOvertaken,
  nearLate,
  swapWhole,
  watermarkBack,
  sequenceRepeat,
  updateLost,
  appliedOnce,
  moveWhole,
  settles,
]
