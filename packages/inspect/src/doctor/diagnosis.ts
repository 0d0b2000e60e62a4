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
  /** Command lines that fix it now. */
  readonly commands?: readonly string[]
  /** Lines of redis.conf that keep it fixed. */
  readonly conf?: readonly string[]
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

/** A diagnosis that a line of redis.conf fixes, and CONFIG SET at once. */
export function configured(
  diagnosis: Pick<Diagnosis, 'code' | 'severity' | 'message' | 'entries'>,
  settings: readonly (readonly [parameter: string, value: string])[],
): Diagnosis {
  const spelled = (value: string) => (value === '' || value.includes(' ') ? `"${value}"` : value)
  return {
    ...diagnosis,
    commands: settings.map(([parameter, value]) => `redis-cli CONFIG SET ${parameter} ${spelled(value)}`),
    conf: settings.map(([parameter, value]) => `${parameter} ${spelled(value)}`),
  }
}
