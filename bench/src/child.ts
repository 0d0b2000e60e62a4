import { spawnSync } from 'node:child_process'

/** What one run of a program cost. */
export interface Cost {
  /** User and system time of the program, and of what it started. */
  readonly cpuMs: number
  readonly wallMs: number
  readonly stdout: string
}

/** Runs a program to its end; it is to end with one of these codes. POSIX `times` says what it cost, in steps of 10 ms. */
export function costOf(words: readonly string[], codes: readonly number[] = [0]): Cost {
  const from = performance.now()
  const { stdout, stderr } = spawnSync(
    '/bin/sh',
    ['-c', '"$@"; echo "ended $?" >&2; times >&2', 'sh', ...words],
    {
      encoding: 'utf8',
      // Here a bare name is one of the packages that stand beside each other in bench/.
      cwd: import.meta.dirname,
      env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' },
    },
  )
  const wallMs = performance.now() - from
  const code = Number(/^ended (\d+)$/m.exec(stderr)?.[1])
  if (!codes.includes(code)) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`)
  // Its last line is of the children: `0m0.380000s 0m0.040000s`.
  const spent = [
    ...stderr
      .trimEnd()
      .split('\n')
      .at(-1)!
      .matchAll(/(\d+)m([\d.]+)s/g),
  ]
  const cpuMs = spent.reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  )
  return { cpuMs, wallMs, stdout }
}

/** The middle one by CPU time of so many runs. */
export function usualCost(runs: number, run: () => Cost): Cost {
  const costs = Array.from({ length: runs }, run).sort((a, b) => a.cpuMs - b.cpuMs)
  return costs[Math.floor(runs / 2)]!
}
