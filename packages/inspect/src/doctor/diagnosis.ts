import type { Remedy } from '../remedy/remedy.ts'

/** What a doctor found at a server. */
export interface Diagnosis {
  readonly code: DiagnosisCode
  /** An `error` loses or refuses data, a `warning` may one day, an `info` is good to know. */
  readonly severity: 'error' | 'warning' | 'info'
  /** Which master, where there are several: its address. */
  readonly node?: string
  readonly message: string
  /** Entries that it concerns. */
  readonly entries?: readonly string[]
  /** What fixes it, or shows more of it. */
  readonly remedies?: readonly Remedy[]
}

/** What can be found. */
export type DiagnosisCode =
  | 'unseen'
  | 'version'
  | 'loading'
  | 'replica'
  | 'cluster-mode'
  | 'cluster-slots'
  | 'maxmemory'
  | 'memory-full'
  | 'policy'
  | 'evicts-kept'
  | 'evicts-nothing'
  | 'evicted'
  | 'persistence'
  | 'save-failed'
  | 'open-to-all'
  | 'permission'
  | 'keyspace-events'
  | 'clock'
  | 'fragmentation'
  | 'rejected'
  | 'clients'
  | 'idle-timeout'
  | 'keepalive'
  | 'slow'
  | 'replication'

/** A diagnosis that other settings fix. */
export function configured(
  diagnosis: Pick<Diagnosis, 'code' | 'severity' | 'message' | 'entries'>,
  settings: readonly (readonly [parameter: string, value: string])[],
): Diagnosis {
  const remedy = {
    kind: 'configure' as const,
    settings: settings.map(([parameter, value]) => ({ parameter, value })),
  }
  return { ...diagnosis, remedies: [remedy] }
}
