import { KeyspecError } from '../errors.ts'

/** A server for tests that cannot be started, or that is asked for what it cannot do any more. */
export class TestServerError extends KeyspecError {
  readonly code = 'E_TEST_SERVER'
}
