/** An answer that says what is wrong with a request, or with the service: a problem document (RFC 9457). */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: number
  /** `about:blank` means that the status says it all. */
  readonly type: string
  readonly title: string
  readonly headers: Readonly<Record<string, string>>
  /** Members beyond those of RFC 9457. */
  readonly more: Readonly<Record<string, unknown>>

  /**
   * @param detail A sentence for people. It quotes no path, no value and no stack.
   * @param about With a `cause` it is a failure of the service, which the service logs.
   */
  constructor(
    status: number,
    detail: string,
    about: {
      readonly type?: string
      readonly title?: string
      readonly headers?: Readonly<Record<string, string>>
      readonly more?: Readonly<Record<string, unknown>>
      readonly cause?: unknown
    } = {},
  ) {
    super(detail, about.cause === undefined ? {} : { cause: about.cause })
    this.status = status
    this.type = about.type ?? 'about:blank'
    this.title = about.title ?? TITLES[status] ?? 'Error'
    this.headers = about.headers ?? {}
    this.more = about.more ?? {}
  }

  /** The document. */
  get document(): Record<string, unknown> {
    const { type, title, status, message: detail, more } = this
    return { type, title, status, detail, ...more }
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  411: 'Length Required',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}
