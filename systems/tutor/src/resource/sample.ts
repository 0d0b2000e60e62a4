import { readFileSync } from 'node:fs'

/** The samples that ship with the tutor; all are invented, as their README says. */
export type Sample =
  | 'tide-mills.html'
  | 'salt-roads.html'
  | 'lantern-revolt.md'
  | 'moss-clocks.txt'
  | 'transcripts.json'

/** The bytes of a sample. */
export function sample(name: Sample): Buffer {
  return readFileSync(new URL(`../../samples/${name}`, import.meta.url))
}
