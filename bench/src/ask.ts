import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Asks a process one question at a time, and gives its answer; throws what it says that failed, or that it has ended. */
export async function ask(child: ChildProcess, question: object): Promise<unknown> {
  child.send(question)
  const heard = new AbortController()
  const { signal } = heard
  const [answer] = (await Promise.race([
    once(child, 'message', { signal }),
    once(child, 'exit', { signal }).then(([code]) => [{ failed: `it ended with ${String(code)}` }]),
  ]).finally(() => heard.abort())) as [{ done?: unknown; failed?: string }]
  if (answer.failed !== undefined) throw new Error(answer.failed)
  return answer.done
}
