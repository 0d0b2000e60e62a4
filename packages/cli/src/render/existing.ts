import { escapeKey } from '@keyspec/inspect'
import { counted } from './units.ts'

const FATE: Readonly<Record<string, string>> = {
  replace: 'would be replaced',
  skip: 'would stay as they are',
}

/** What a preview says of keys that are there already, if there are any, by what is to be done with them. */
export function existingLines(existing: number, samples: readonly Buffer[], policy: string): string[] {
  if (existing === 0) return []
  const fate = FATE[policy] ?? 'are in the way'
  return [
    `${counted(existing, 'key')} there already, which ${fate}, such as ${samples.map(escapeKey).join(' ')}`,
  ]
}
