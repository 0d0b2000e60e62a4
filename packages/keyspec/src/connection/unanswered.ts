import { KeyspecError, NotSentError, reason, UnknownOutcomeError } from '../errors.ts'
import { type Command, firstKeyOf, type Shape } from './connection.ts'

/**
 * The error of a command that the server did not answer, with the client's own error as its cause: a `NotSentError` if the
 * client certainly did not write the command to its socket, else an `UnknownOutcomeError`. Errors of Keyspec, and of the
 * program (`TypeError`, `RangeError`), stay as they are.
 */
export function unanswered(error: unknown, command: Command, shape: Shape, maybeSent: boolean): unknown {
  if (error instanceof KeyspecError || error instanceof TypeError || error instanceof RangeError) return error
  const key = firstKeyOf(command, shape)
  const place = key === undefined ? '' : `${key}: `
  const name = String(command[0])
  return maybeSent
    ? new UnknownOutcomeError(
        `${place}the outcome of ${name} is unknown (${reason(error)}): the server may have applied it. ` +
          'A read can be repeated. Before you repeat a write, read what is stored',
        key,
        error,
      )
    : new NotSentError(
        `${place}${name} was not sent (${reason(error)}), so the server has not applied it. ` +
          'Repeat it when Redis can be reached',
        key,
        error,
      )
}
