import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A Python that has the Redis client, and runs one program after another, since it takes long to start. */
export interface Python {
  /** Runs a program, each with names of its own, `sys.argv[1:]` as given; answers what it prints. */
  run(program: string, ...words: string[]): Promise<string>
  stop(): void
}

// As Debian's is the one that its packages go to, it is asked first.
const interpreters = ['/usr/bin/python3', 'python3']

const loop = `
import contextlib, io, json, redis, sys, traceback
for line in sys.stdin:
    program, sys.argv = (asked := json.loads(line))[0], ['-c', *asked[1:]]
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(program, {'__name__': '__main__'})
        print(json.dumps({'printed': printed.getvalue()}), flush=True)
    except BaseException:
        print(json.dumps({'error': traceback.format_exc()}), flush=True)
`

/** Starts Python; an `Error` says so where there is none with a Redis client. */
export function startPython(): Python {
  const interpreter = interpreters.find((name) => spawnSync(name, ['-c', 'import redis']).status === 0)
  if (interpreter === undefined) throw new Error('there is no python3 that has the package redis')
  const child = spawn(interpreter, ['-c', loop], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const ended = once(lines, 'close').then(() => Promise.reject(new Error('Python has ended')))
  ended.catch(() => {})
  let last: Promise<unknown> = Promise.resolve()

  async function ask(asked: readonly string[]): Promise<string> {
    const answer = Promise.race([once(lines, 'line'), ended])
    child.stdin.write(`${JSON.stringify(asked)}\n`)
    const [line] = (await answer) as [string]
    const { printed = '', error } = JSON.parse(line) as { printed?: string; error?: string }
    if (error !== undefined) throw new Error(error)
    return printed
  }

  return {
    run(...asked) {
      const answer = last.then(() => ask(asked))
      last = answer.catch(() => {})
      return answer
    },
    // It ends with its standard input.
    stop: () => child.stdin.end(),
  }
}
