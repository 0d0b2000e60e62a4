export {
  cache,
  type CacheEntry,
  type CacheKey,
  type CacheOptions,
  type Load,
  type LoadOptions,
  type ManyCached,
} from './cache/cache.ts'
export { type LoadAll } from './cache/load.ts'
export { type CacheStats } from './cache/stats.ts'
export { fixedWindow } from './fixed-window/fixed-window.ts'
export { bullmq, type BullmqOptions } from './foreign/bullmq.ts'
export { celery, type CeleryOptions, celeryResults } from './foreign/celery.ts'
export { foreign, type ForeignEntry, type ForeignOptions } from './foreign/foreign.ts'
export { type Limits } from './limiter/limit-by.ts'
export { type Limiter, type LimiterEntry, type LimiterOptions } from './limiter/limiter.ts'
export { type Unreachable } from './limiter/outage.ts'
export { type Standing, type Taken, type TakenFrom } from './limiter/taken.ts'
export { type Held } from './lock/held.ts'
export {
  type AcquireOptions,
  lock,
  type LockEntry,
  type LockKey,
  type LockOptions,
  type NotAcquired,
  type Used,
} from './lock/lock.ts'
export {
  quota,
  type Quota,
  type QuotaEntry,
  type QuotaOptions,
  type QuotaStanding,
  type QuotaTaken,
} from './quota/quota.ts'
export { rateLimitHeaders, type RateLimitHeaders } from './rate-limit-headers.ts'
export { recent, type RecentEntry, type RecentKey, type RecentOptions } from './recent/recent.ts'
export { seen, type SeenEntry, type SeenKey, type SeenOptions } from './seen/seen.ts'
export { sequence, type SequenceEntry, type SequenceKey, type Issued } from './sequence/sequence.ts'
export { type Replaced, type SnapshotOptions } from './snapshot/replace.ts'
export {
  scoredSnapshot,
  type ScoredSnapshotEntry,
  type ScoredSnapshotKey,
} from './snapshot/scored-snapshot.ts'
export { slidingWindow, type SlidingWindowOptions } from './sliding-window/sliding-window.ts'
export { snapshot, type SnapshotEntry, type SnapshotKey } from './snapshot/snapshot.ts'
export { type Advanced, watermark, type WatermarkEntry, type WatermarkKey } from './watermark/watermark.ts'
export { workQueue, type WorkQueueEntry, type WorkQueueOptions } from './work-queue/work-queue.ts'
export { type WorkQueue } from './work-queue/queue.ts'
export { type Tallies, type WorkQueueKeys } from './work-queue/layout.ts'
export {
  type Added,
  type Finished,
  type JobFailure,
  type JobResult,
  type QueueStats,
  type Recovered,
  type RunningJob,
  type TakenJob,
  type Turn,
  type Turned,
} from './work-queue/outcome.ts'
