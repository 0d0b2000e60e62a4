import { KeyspecError } from 'keyspec'

/** How the command ends: 0 all is well, 1 it found something, 2 it was called wrongly, 3 the server could not be reached. */
export const exit = { fine: 0, findings: 1, usage: 2, connection: 3, interrupted: 130 } as const

/** One of the exit codes. */
export type ExitCode = (typeof exit)[keyof typeof exit]

/** An end that its message explains whole: printed as one line, without a stack. */
export abstract class Failure extends KeyspecError {
  abstract readonly exitCode: ExitCode

  constructor(message: string, cause?: unknown) {
    super(message, undefined, cause)
  }
}

/** The command was called in a way that it cannot follow. */
export class UsageError extends Failure {
  readonly code = 'E_USAGE'
  readonly exitCode = exit.usage
}

/** A configuration or a schema does not load; the cause is what its module threw. */
export class ConfigError extends Failure {
  readonly code = 'E_CONFIG'
  readonly exitCode = exit.usage
}

/** A file cannot be read or written, or does not hold what the command reads from it. */
export class FileError extends Failure {
  readonly code = 'E_FILE'
  readonly exitCode: ExitCode

  constructor(message: string, cause: unknown, exitCode: ExitCode = exit.usage) {
    super(message, cause)
    this.exitCode = exitCode
  }
}

/** A server cannot be reached, or does not let the user in. */
export class UnreachableError extends Failure {
  readonly code = 'E_UNREACHABLE'
  readonly exitCode = exit.connection
}

/** Returns the error of a call that the command cannot follow. */
export function misused(message: string): UsageError {
  return new UsageError(message)
}

/** The words of whatever was thrown. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
