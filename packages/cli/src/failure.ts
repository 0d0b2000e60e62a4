/** How the command ends: 0 all is well, 1 it found something, 2 it was called wrongly, 3 the server could not be reached. */
export const exit = { fine: 0, findings: 1, usage: 2, connection: 3, interrupted: 130 } as const

/** One of the exit codes. */
export type ExitCode = (typeof exit)[keyof typeof exit]

/** An end that its message explains whole: printed as one line, without a stack. */
export class Failure extends Error {
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'Failure'
    this.exitCode = exitCode
  }
}

/** The command was called in a way that it cannot follow. */
export function misused(message: string): Failure {
  return new Failure(message, exit.usage)
}

/** The words of whatever was thrown. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
