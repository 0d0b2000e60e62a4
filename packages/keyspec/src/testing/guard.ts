import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Socket } from 'node:net'
import { TestServerError } from './test-server-error.ts'

/** A temporary directory and at most one process, both gone when this process is, however it ends. */
export interface Guard {
  readonly directory: string
  /** Names the leader of the process group to end, or nothing once it has ended. */
  watch(pid: number | undefined): void
  /** Ends the process group that is watched and removes the directory. */
  release(): Promise<void>
}

/**
 * Starts a guard: a shell that reads from a pipe which only this process can write to. The kernel closes the pipe when
 * this process exits, crashes or is killed with -9, and at that moment the shell cleans up.
 */
export function guard(): Guard {
  const directory = join(temporaryRoot(), `ks-${randomBytes(6).toString('hex')}`)
  const shell = spawn('/bin/sh', ['-c', script, 'keyspec-guard', directory], {
    cwd: '/',
    detached: true, // its own session: a Ctrl-C in the terminal reaches us, not the shell that cleans up after us
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = once(shell, 'exit')
  ended.catch(() => {}) // reported by release(), where somebody waits for it
  shell.stdin.on('error', () => {}) // the shell itself was killed: nothing left to tell it
  shell.unref()
  if (shell.stdin instanceof Socket) shell.stdin.unref()
  mkdirSync(directory, { mode: 0o700 }) // only now, so that it never exists unguarded

  return {
    directory,
    watch(pid) {
      shell.stdin.write(`${pid ?? ''}\n`)
    },
    async release() {
      shell.ref()
      shell.stdin.end()
      const [code] = await ended
      if (code !== 0)
        throw new TestServerError(`${directory} could not be removed: something still writes to it.`)
    },
  }
}

// A child of the server (one that saves, or feeds a replica) dies with its group. Removing is tried again because a
// process that is being killed may still finish creating the file it was creating.
const script = `
PATH=/usr/bin:/bin:$PATH
pid=
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then kill -s KILL -- "-$pid"; fi
for pause in 0 1 1 1; do rm -rf "$1" && exit 0; sleep $pause; done
exit 1
`

/** A socket's path may have 104 bytes on macOS and 108 on Linux, its terminator included. */
function temporaryRoot(): string {
  const root = tmpdir()
  return Buffer.byteLength(root) <= 80 ? root : '/tmp'
}
