import { readFileSync } from 'node:fs'
import { ownFile } from '@keyspec-systems/program'

/** The samples that ship with the tutor; all are invented, as their README says. */
export type Sample =
  | 'tide-mills.html'
  | 'salt-roads.html'
  | 'lantern-revolt.md'
  | 'moss-clocks.txt'
  | 'transcripts.json'

/** The bytes of a sample. */
export function sample(name: Sample): Buffer {
  return readFileSync(ownFile(import.meta.url, `samples/${name}`))
}
