/** An answer that says what is wrong with a request: a status, and `{ "error": … }`. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: 400 | 401 | 403 | 404 | 405 | 411 | 413 | 500

  constructor(status: Problem['status'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
  }
}
