import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'

/** Where a round runs; on cores that the system chooses, where nothing can be pinned. */
export interface Place {
  /** How many cores client and server have between them. */
  readonly cores?: 1 | 2
  readonly server?: number
  readonly client?: number
}

/** Client and server on one core. */
export const ONE_CORE: Place = { cores: 1, server: 0, client: 0 }

/** The server on that core, the client with all its threads on another. */
export const TWO_CORES: Place = { cores: 2, server: 0, client: 1 }

/** Binds a process, and all its threads, to one core; answers whether that could be done. */
export function pin(pid: number, core: number): boolean {
  return spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]).status === 0
}

/** Binds a server and its client to the cores of a place, if it has any. */
export function put(server: { readonly pid: number }, client: { readonly pid: number }, place: Place): void {
  if (place.server !== undefined) pin(server.pid, place.server)
  if (place.client !== undefined) pin(client.pid, place.client)
}

/** Lets a process run on every core again, and what it starts from now on. */
export function unpin(pid: number): void {
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', `0-${cpus().length - 1}`, String(pid)])
}
