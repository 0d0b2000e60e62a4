import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Fault } from './fault.ts'

/** Stops an actor in its tracks (SIGSTOP), for longer than some leases, and lets it go on. */
export const stopProcess: Fault = {
  name: 'stop-process',
  async inflict({ crew, random }) {
    const { child } = random.pick(crew.actors)
    const seconds = random.whole(3, 20) / 10
    // A shell does it, so that the actor goes on even if the harness is killed meanwhile.
    const script = `kill -STOP ${child.pid}; sleep ${seconds}; kill -CONT ${child.pid}`
    await once(spawn('/bin/sh', ['-c', script], { stdio: 'ignore' }), 'exit')
  },
}
