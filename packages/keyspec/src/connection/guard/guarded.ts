import { type Duration, milliseconds, spell } from '../../duration.ts'
import { ArgumentRangeError, KeyspecError, reason, UnavailableError } from '../../errors.ts'
import { type Connection, firstKeyOf } from '../connection.ts'
import { isUnavailable } from '../server-error.ts'
import { tickTime } from '../../tick-time.ts'
import { wrapConnection } from '../wrap.ts'
import { Breaker, type BreakerState } from './breaker.ts'
import { Meter, type PeakHour, type ResponseTimes } from './meter.ts'

/** How a guard judges; see `guarded`. */
export interface GuardOptions {
  /** After how many failures in a row it holds Redis to be down: 3 unless said otherwise. */
  readonly failureThreshold?: number
  /** How long it then sends nothing, before it tries one call: 1 s unless said otherwise. */
  readonly openFor?: Duration
  /** Is told each change of state. */
  readonly onStateChange?: (change: StateChange) => void
}

/** A change of a guard's state. */
export interface StateChange {
  readonly from: BreakerState
  readonly to: BreakerState
  readonly at: Date
  /** The last failure, where failures led to it. */
  readonly cause: unknown
}

/** How a guarded connection fares. */
export interface Health {
  /** Fewer than three calls in a row were left without an answer. */
  readonly healthy: boolean
  readonly state: BreakerState
  /** Since when it is in this state. */
  readonly since: Date
  /** Calls that were sent. */
  readonly attempts: number
  /** Those of them that were not answered, or by a server that could not serve (LOADING, READONLY …). */
  readonly failures: number
  readonly consecutiveFailures: number
  /** The fraction of the attempts that did not fail; 1 before the first. */
  readonly successRate: number
  /** Answers that were errors (WRONGTYPE, OOM …): the server is well, the call was not. */
  readonly errorReplies: number
  /** Calls that were not sent, since Redis was held to be down. */
  readonly unsent: number
  readonly responseMs: ResponseTimes
  /** The hour that saw most calls; `undefined` before the first. */
  readonly peakHour: PeakHour | undefined
}

/** A connection that watches itself. */
export interface GuardedConnection extends Connection {
  health(): Health
}

const UNHEALTHY_AT = 3

/**
 * A connection that measures its health, and does not keep callers waiting while Redis is down: after `failureThreshold`
 * failures in a row every call rejects at once with an `UnavailableError`, for `openFor`; then one call is let through, and
 * when it is answered, all are. An error reply is an answer, unless it says that the server cannot serve now.
 *
 * A server that hangs counts as a failure when a call meets the bound of the adapter (5 s by default). On a cluster it judges
 * all masters as one.
 *
 * @example
 * const connection = guarded(fromNodeRedis(client), { onStateChange: ({ to }) => log.warn(`Redis: ${to}`) })
 * const keys = open(schema, connection)
 * app.get('/health', () => connection.health())
 */
export function guarded(connection: Connection, options: GuardOptions = {}): GuardedConnection {
  const { failureThreshold = UNHEALTHY_AT, openFor = '1s', onStateChange } = options
  if (!Number.isSafeInteger(failureThreshold) || failureThreshold < 1) {
    throw new ArgumentRangeError(`failureThreshold is a whole number from 1, not ${failureThreshold}`)
  }
  const meter = new Meter()
  let since = new Date()
  let downSince = since
  let before: BreakerState = 'closed'
  let cause: unknown
  const breaker = new Breaker({
    failureThreshold,
    openForMs: milliseconds(openFor),
    changed(to) {
      const from = before
      before = to
      since = new Date()
      if (from === 'closed') downSince = since
      onStateChange?.({ from, to, at: since, cause: to === 'closed' ? undefined : cause })
    },
  })

  const refuse = (now: number, key: string | undefined): Promise<never> => {
    meter.unsent += 1
    const place = key === undefined ? '' : `${key}: `
    const wait = Math.ceil(breaker.waitMs(now))
    const next = wait === 0 ? 'now' : `in ${spell(wait)}`
    return Promise.reject(
      new UnavailableError(
        `${place}not sent: Redis has been down since ${downSince.toISOString()} (${reason(cause)}); it is tried again ${next}`,
        key,
        cause,
      ),
    )
  }

  const verbsOver = (inner: Connection): Pick<Connection, 'send' | 'masters'> => ({
    send(command, shape) {
      const start = tickTime()
      const round = breaker.admit(start)
      if (round === undefined) return refuse(start, firstKeyOf(command, shape))
      meter.sent(performance.timeOrigin + start)
      const answered = () => {
        meter.answered(shape.blocks === true ? undefined : tickTime() - start)
        breaker.answered(round)
      }
      return inner.send(command, shape).then(
        (reply) => {
          answered()
          return reply
        },
        (error: unknown) => {
          if (isUnavailable(error)) {
            cause = error
            meter.failed()
            breaker.failed(round, tickTime())
          } else {
            if (error instanceof KeyspecError) meter.errorReplies += 1
            answered()
          }
          throw error
        },
      )
    },
    masters: async () =>
      (await inner.masters()).map((master) =>
        master === connection ? self : wrapConnection(master, verbsOver(master)),
      ),
  })

  const self: GuardedConnection = wrapConnection(connection, {
    ...verbsOver(connection),
    health() {
      const { attempts, failures, consecutiveFailures, errorReplies, unsent } = meter
      return {
        healthy: consecutiveFailures < UNHEALTHY_AT,
        state: breaker.state,
        since,
        attempts,
        failures,
        consecutiveFailures,
        successRate: attempts === 0 ? 1 : (attempts - failures) / attempts,
        errorReplies,
        unsent,
        responseMs: meter.responseTimes(),
        peakHour: meter.peakHour(),
      }
    },
  })
  return self
}
