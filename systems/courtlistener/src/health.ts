import type { GuardedConnection } from 'keyspec'

/** How often a client tried to connect, and how often it did. */
export interface ConnectionAttempts {
  made: number
  succeeded: number
}

/** How the connection fares, with the document's names. Times are in ms. */
export interface ConnectionMetrics {
  readonly connection_attempts: number
  readonly connection_failures: number
  /** The fraction of the attempts that succeeded. */
  readonly success_rate: number
  /** Operations in a row that were left without an answer. */
  readonly consecutive_failures: number
  readonly operations: number
  readonly operation_failures: number
  readonly operation_success_rate: number
  readonly average_response_time: number
  readonly p50_response_time: number
  readonly p99_response_time: number
  /** The hour that saw most operations, `2024-09-17T14:00:00.000Z`, and how many. */
  readonly peak_hour: string | undefined
  readonly peak_hour_operations: number
  /** Bytes that the server uses; `undefined` while it cannot be asked. */
  readonly used_memory: number | undefined
}

/** What can be asked of a connection's health. */
export interface Watched {
  /** Fewer than three operations in a row were left without an answer. */
  isConnectionHealthy(): boolean
  connectionMetrics(): Promise<ConnectionMetrics>
}

/** Watches a connection. */
export function watched(connection: GuardedConnection, attempts: ConnectionAttempts): Watched {
  return {
    isConnectionHealthy: () => connection.health().healthy,
    async connectionMetrics() {
      const used_memory = await usedMemory(connection)
      const { peakHour, responseMs, ...health } = connection.health()
      return {
        connection_attempts: attempts.made,
        connection_failures: attempts.made - attempts.succeeded,
        success_rate: attempts.succeeded / attempts.made,
        consecutive_failures: health.consecutiveFailures,
        operations: health.attempts,
        operation_failures: health.failures,
        operation_success_rate: health.successRate,
        average_response_time: responseMs.mean,
        p50_response_time: responseMs.p50,
        p99_response_time: responseMs.p99,
        peak_hour: peakHour?.start.toISOString(),
        peak_hour_operations: peakHour?.calls ?? 0,
        used_memory,
      }
    },
  }
}

async function usedMemory(connection: GuardedConnection): Promise<number | undefined> {
  try {
    const info = await connection.send(['INFO', 'memory'], { firstKey: 0, keyCount: 0 })
    const bytes = /^used_memory:(\d+)/m.exec(String(info))?.[1]
    return bytes === undefined ? undefined : Number(bytes)
  } catch {
    return undefined
  }
}
