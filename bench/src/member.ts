import { setTimeout as sleep } from 'node:timers/promises'
import { setClockAhead, sharedMs } from './clock.ts'

/** What a process of a crowd is asked. */
export type Ask =
  | { readonly join: { readonly module: string; readonly given: unknown; readonly clockAheadMs: number } }
  | { readonly go: { readonly word: string; readonly at: number } }

/** What the module of a member exports as `member`: it connects, and answers what it does when it is told a word. */
export type Member<G, R> = (given: G) => Promise<(word: string) => Promise<R>>

let act: Awaited<ReturnType<Member<unknown, unknown>>> | undefined

process.on('message', (ask: Ask) => {
  answer(ask).then(
    (done) => process.send!({ done }),
    (error: unknown) =>
      process.send!({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
// Whoever started it has died.
process.on('disconnect', () => process.exit(1))

async function answer(ask: Ask): Promise<unknown> {
  if ('join' in ask) {
    const { module, given, clockAheadMs } = ask.join
    // Before any library is loaded, which may keep the clock that it finds.
    if (clockAheadMs !== 0) setClockAhead(clockAheadMs)
    const { member } = (await import(module)) as { readonly member: Member<unknown, unknown> }
    act = await member(given)
    return true
  }
  await sleep(Math.max(0, ask.go.at - sharedMs()))
  return act!(ask.go.word)
}
