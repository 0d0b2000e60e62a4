export { cache, type CacheEntry } from './cache/cache.ts'
export { type CacheKey, type Load, type LoadOptions } from './cache/cache-key.ts'
export { type CacheOptions } from './cache/cache-options.ts'
export { type ManyCached } from './cache/many-cached.ts'
export { type LoadAll } from './cache/flight.ts'
export { type CacheStats } from './cache/stats.ts'
export { fixedWindow } from './fixed-window/fixed-window.ts'
export { bullmq, type BullmqOptions } from './external/bullmq.ts'
export { celery, type CeleryOptions, celeryResults } from './external/celery.ts'
export { external, type ExternalEntry, type ExternalOptions } from './external/external.ts'
export { type Limits } from './limiter/limit-by.ts'
export { type Limiter, type LimiterEntry, type LimiterOptions } from './limiter/limiter.ts'
export { type Unreachable } from './limiter/outage.ts'
export { type LimitResult, type LimitSource, type LimitState } from './limiter/limit-result.ts'
export { type Lease } from './lock/lease.ts'
export {
  type AcquireOptions,
  lock,
  type LockEntry,
  type LockKey,
  type LockOptions,
  type NotAcquired,
  type UseResult,
} from './lock/lock.ts'
export {
  quota,
  type Quota,
  type QuotaEntry,
  type QuotaOptions,
  type QuotaResult,
  type QuotaState,
} from './quota/quota.ts'
export { rateLimitHeaders, type RateLimitHeaders } from './rate-limit-headers.ts'
export {
  cappedList,
  type CappedListEntry,
  type CappedListKey,
  type CappedListOptions,
} from './capped-list/capped-list.ts'
export { dedupe, type DedupeEntry, type DedupeKey, type DedupeOptions } from './dedupe/dedupe.ts'
export { type ReplicatedOptions } from './replicated.ts'
export {
  type SequenceRange,
  type ReplicatedSequenceRange,
  type ReplicatedSequenceKey,
  sequence,
  type SequenceEntry,
  type SequenceKey,
  type SequenceOptions,
} from './sequence/sequence.ts'
export { type ReplaceResult, type SwapOptions } from './swap/replace.ts'
export { swapHash, type SwapHashEntry, type SwapHashKey } from './swap/swap-hash.ts'
export { slidingWindow, type SlidingWindowOptions } from './sliding-window/sliding-window.ts'
export { swapSet, type SwapSetEntry, type SwapSetKey } from './swap/swap-set.ts'
export {
  type AdvanceResult,
  watermark,
  type WatermarkEntry,
  type WatermarkKey,
} from './watermark/watermark.ts'
export { workQueue, type WorkQueueEntry, type WorkQueueOptions } from './work-queue/work-queue.ts'
export { type WorkQueue } from './work-queue/queue.ts'
export { type JobCounters, type WorkQueueKeys } from './work-queue/layout.ts'
export {
  type AddResult,
  type Batch,
  type BatchResult,
  type FinishResult,
  type JobFailure,
  type JobResult,
  type QueueStats,
  type RecoverResult,
  type RepairResult,
  type RunningJob,
  type TakenJob,
  type UnreadableJob,
} from './work-queue/outcome.ts'
