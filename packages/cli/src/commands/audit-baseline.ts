import { existsSync } from 'node:fs'
import type { Finding } from '@keyspec/inspect'
import { misused } from '../failure.ts'
import { textOf, writeText } from '../file.ts'

/** What a file of `--write-baseline` holds: how many keys of each kind of finding were accepted. */
interface Baseline {
  readonly version: 1
  readonly findings: readonly Accepted[]
}

interface Accepted {
  readonly code: string
  readonly entry?: string | undefined
  readonly pattern?: string | undefined
  readonly detail?: string | undefined
  readonly count: number
}

/** Reads a baseline: gives how many keys of a finding's kind were accepted. */
export async function readBaseline(path: string, shownAs: string): Promise<(finding: Finding) => number> {
  if (!existsSync(path)) throw misused(`there is no ${shownAs}: --write-baseline makes one`)
  const text = await textOf(path, shownAs)
  let baseline: Baseline
  try {
    baseline = JSON.parse(text) as Baseline
  } catch {
    throw misused(`${shownAs} is no baseline: it is not JSON`)
  }
  if (baseline?.version !== 1 || !Array.isArray(baseline.findings))
    throw misused(`${shownAs} is no baseline of this version: write it anew with --write-baseline`)
  const counts = new Map(baseline.findings.map((each) => [fingerprintOf(each), each.count]))
  return (finding) => counts.get(fingerprintOf(finding)) ?? 0
}

/** Writes the baseline that accepts these findings; it holds no keys. */
export async function writeBaseline(
  path: string,
  shownAs: string,
  findings: readonly Finding[],
): Promise<void> {
  const accepted = findings
    .map(({ code, entry, pattern, detail, count }): Accepted => ({ code, entry, pattern, detail, count }))
    .sort((a, b) => (fingerprintOf(a) < fingerprintOf(b) ? -1 : 1))
  const baseline: Baseline = { version: 1, findings: accepted }
  await writeText(path, shownAs, `${JSON.stringify(baseline, undefined, 2)}\n`)
}

function fingerprintOf({ code, entry, pattern, detail }: Omit<Accepted, 'count'>): string {
  return JSON.stringify([code, entry ?? '', pattern ?? '', detail ?? ''])
}
