import type { Lifetime } from 'keyspec'
import { spell } from 'keyspec/extend'

const RENEWED = {
  creation: [],
  write: ['alive --> alive: written, {ttl} anew'],
  read: ['alive --> alive: read or written, {ttl} anew'],
} as const

const ENDED = {
  creation: '{ttl} after it was created',
  write: '{ttl} after the last write',
  read: '{ttl} after the last use',
} as const

/** A state diagram (https://mermaid.js.org) of a key that lives so. */
export function lifeCycle(lifetime: Lifetime): string {
  const lines =
    lifetime.ttlMs === 'forever'
      ? ['[*] --> alive: created', 'alive --> removed: deleted by its program', 'removed --> [*]']
      : [
          '[*] --> alive: created',
          ...RENEWED[lifetime.renew],
          `alive --> expired: ${ENDED[lifetime.renew]}`,
          'alive --> removed: deleted or evicted',
          'expired --> [*]',
          'removed --> [*]',
        ]
  const ttl = lifetime.ttlMs === 'forever' ? '' : spell(lifetime.ttlMs)
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...lines.map((line) => `  ${line.replaceAll('{ttl}', ttl)}`),
    '```',
  ].join('\n')
}
