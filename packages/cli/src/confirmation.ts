import type { Call } from './command.ts'
import { exit, type ExitCode } from './failure.ts'

/** Asks whether to go on; `undefined` if so, else the exit code, and why nothing was done has been said. */
export async function refusal(
  call: Pick<Call<any>, 'attended' | 'confirm' | 'log'>,
  question: string,
  word: string,
): Promise<ExitCode | undefined> {
  if (await call.confirm(question, word)) return undefined
  if (call.attended) {
    call.log.say(`nothing was done: "${word}" was not typed`)
    return exit.findings
  }
  call.log.say('nothing was done: nobody is here to be asked; --yes does it without asking')
  return exit.usage
}
