import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ask } from './ask.ts'
import { sharedMs } from './clock.ts'
import type { Ask } from './member.ts'

/** Who a process of a crowd is: the module whose `member` it runs, and what that is given. */
export interface MemberOptions<G> {
  /** Its module, by `import.meta.url` of who names it: `['./stampede-member.js', import.meta.url]`. */
  readonly module: readonly [path: string, from: string]
  readonly given: G
  /** How far its calendar is ahead. */
  readonly clockAheadMs?: number
}

/** Processes that are told to do one thing at the same time. */
export class Crowd<R> {
  readonly #children: readonly ChildProcess[]

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children
  }

  /** Starts them; they are ready when this is answered. */
  static async gather<G, R>(members: readonly MemberOptions<G>[]): Promise<Crowd<R>> {
    const children = members.map(() =>
      fork(fileURLToPath(new URL('./member.js', import.meta.url)), [], {
        execArgv: ['--no-warnings'],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    )
    const crowd = new Crowd<R>(children)
    try {
      await Promise.all(
        members.map(({ module: [path, from], given, clockAheadMs = 0 }, index) =>
          ask(children[index]!, {
            join: { module: new URL(path, from).href, given, clockAheadMs },
          } satisfies Ask),
        ),
      )
    } catch (error) {
      crowd.end()
      throw error
    }
    return crowd
  }

  /** Lets all of them begin at one instant, of `sharedMs`, and answers what each came to. */
  async go(word: string): Promise<R[]> {
    // Whoever hears of it later than this begins late.
    const at = sharedMs() + 250
    return (await Promise.all(
      this.#children.map((child) => ask(child, { go: { word, at } } satisfies Ask)),
    )) as R[]
  }

  /** Ends them at once. */
  end(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }
}
