import type { Documents } from '../keyspace.ts'
import type { PerformanceMetric, PipelineMetric } from '../pipeline/metric.ts'

/** Writes what a stage took. Two that end in one ms stand a ms apart, so that none is lost. */
export async function recordStage(keys: Documents, metric: Omit<PipelineMetric, 'timestamp'>): Promise<void> {
  await atFreeTime((timestamp) =>
    keys.pipelineMetric({ metricType: metric.metric_type, timestamp }).setIfAbsent({ ...metric, timestamp }),
  )
}

/** What a component did since it was last asked. */
export class Performance {
  readonly #component: string
  #since = performance.now()
  #took: number[] = []
  #failures = 0

  constructor(component: string) {
    this.#component = component
  }

  /** Counts one operation. */
  add(durationMs: number, isFailure: boolean): void {
    this.#took.push(durationMs)
    if (isFailure) this.#failures += 1
  }

  /** Writes what was counted, if anything was, and begins anew. */
  async flush(keys: Documents): Promise<void> {
    const took = this.#took.toSorted((a, b) => a - b)
    if (took.length === 0) return
    const window = {
      component: this.#component,
      window_ms: performance.now() - this.#since,
      operations: took.length,
      failures: this.#failures,
      mean_ms: took.reduce((sum, ms) => sum + ms, 0) / took.length,
      p50_ms: quantile(took, 0.5),
      p99_ms: quantile(took, 0.99),
      memory_bytes: process.memoryUsage.rss(),
    } satisfies Omit<PerformanceMetric, 'timestamp'>
    this.#since = performance.now()
    this.#took = []
    this.#failures = 0
    await atFreeTime((timestamp) =>
      keys
        .performanceMetric({ component: window.component, timestamp })
        .setIfAbsent({ ...window, timestamp }),
    )
  }
}

/** The value that a part of the sorted values does not exceed; 0 where there are none. */
export function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0
}

async function atFreeTime(write: (timestamp: string) => Promise<boolean>): Promise<void> {
  for (let at = Date.now(); !(await write(new Date(at).toISOString())); at += 1);
}
