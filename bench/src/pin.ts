import { spawnSync } from 'node:child_process'

/** Binds a process, and all its threads, to one core; answers whether that could be done. */
export function pin(pid: number, core: number): boolean {
  return spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]).status === 0
}
