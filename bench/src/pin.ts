import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'

/** Binds a process, and all its threads, to one core; answers whether that could be done. */
export function pin(pid: number, core: number): boolean {
  return spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]).status === 0
}

/** Lets a process run on every core again, and what it starts from now on. */
export function unpin(pid: number): void {
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `0-${cpus().length - 1}`, String(pid)])
}
