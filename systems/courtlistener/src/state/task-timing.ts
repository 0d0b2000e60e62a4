import type { Courtlistener } from '../schema.ts'

/** How long the tasks of one name took, in ms. */
export interface TaskTimes {
  readonly task: string
  readonly count: number
  readonly minMs: number
  readonly medianMs: number
  readonly p95Ms: number
}

/** How long the tasks of a run take. */
export interface TaskTiming {
  start(taskId: string, at?: Date): Promise<void>
  /** How long ago a task began; `undefined` where its start is not known. */
  elapsedMs(taskId: string, at?: Date): Promise<number | undefined>
  /** A task has ended: its duration is kept for the report; answers it. */
  end(taskId: string, at?: Date): Promise<number | undefined>
  /** By task: `process_docket_123` and `process_docket_124` are both `process_docket`. */
  report(): Promise<TaskTimes[]>
}

/** How long the tasks of this run take. */
export function taskTiming(keys: Courtlistener, dagRunId: string): TaskTiming {
  const elapsedMs = async (taskId: string, at = new Date()) => {
    const start = await keys.taskStart({ dagRunId, taskId }).get()
    // Two machines' clocks may differ.
    return start === undefined ? undefined : Math.max(0, at.getTime() - start.getTime())
  }
  return {
    async start(taskId, at = new Date()) {
      await keys.taskStart({ dagRunId, taskId }).set(at)
    },
    elapsedMs,
    async end(taskId, at) {
      const ms = await elapsedMs(taskId, at)
      if (ms !== undefined) await keys.taskDurations({ dagRunId }).set({ [taskId]: ms })
      return ms
    },
    async report() {
      const times = new Map<string, number[]>()
      const durations = (await keys.taskDurations({ dagRunId }).get()) ?? {}
      for (const [taskId, ms] of Object.entries(durations as Record<string, number>)) {
        const task = taskId.replace(/_\d+$/, '')
        const known = times.get(task)
        if (known === undefined) times.set(task, [ms])
        else known.push(ms)
      }
      return [...times].map(([task, ms]) => ({
        task,
        count: ms.length,
        minMs: percentile(ms, 0),
        medianMs: percentile(ms, 0.5),
        p95Ms: percentile(ms, 0.95),
      }))
    },
  }
}

/** The value that this part of the others does not exceed (nearest rank); 0 where there are none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0
}
