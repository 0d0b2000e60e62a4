/** Where words about what happens go: one event, with what belongs to it. */
export interface Log {
  info(event: string, details: Readonly<Record<string, unknown>>): void
  warn(event: string, details: Readonly<Record<string, unknown>>): void
}

/** One line of JSON an event, with the instant and the level. */
export function jsonLog(write: (line: string) => void, now: () => Date = () => new Date()): Log {
  const at = (level: 'INFO' | 'WARNING') => (event: string, details: Readonly<Record<string, unknown>>) =>
    write(JSON.stringify({ at: now().toISOString(), level, event, ...details }))
  return { info: at('INFO'), warn: at('WARNING') }
}
