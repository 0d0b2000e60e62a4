import { withBuffers } from './argument.ts'
import type { Flight } from './flight.ts'

/** The parts of ioredis that send commands. */
export interface IoredisSender {
  readonly options?: object
  call(command: string, args: (string | Buffer)[]): Promise<unknown>
  callBuffer(command: string, args: (string | Buffer)[]): Promise<unknown>
  sendCommand(command: any): unknown
}

/** The parts of a command of ioredis that matter here. */
interface IoredisCommand {
  pipelineIndex?: number
  toWritable(stream: unknown): string | Buffer
  flight?: Flight
}

/**
 * Returns a function that sends commands over a client of ioredis, each at most once, and changes nothing of the client.
 *
 * By default ioredis repeats what was not answered when the connection was lost. A part of a pipeline whose beginning was
 * answered it rejects instead, so each command is sent as such a part, with a `pipelineIndex` that stands at no place.
 * (`abortIncompletePipelines` in event_handler.js, ioredis 5 and 6.) Redirections of a cluster go on: the server refused those.
 *
 * ioredis calls `toWritable` when it writes a command to the socket, so a command knows whether it was written. One that was
 * given up before goes out as a PING, wherever it is queued.
 */
export function onceOver(client: IoredisSender): (flight: Flight) => Promise<unknown> {
  let next: Flight
  const own: IoredisSender = Object.create(client, {
    // Pipelines that ioredis makes by itself are repeated whole.
    options: { value: Object.create(client.options ?? null, { enableAutoPipelining: { value: false } }) },
    sendCommand: {
      value(command: IoredisCommand) {
        next.maybeSent = typeof command.toWritable !== 'function'
        command.pipelineIndex = -1
        command.flight = next
        command.toWritable = written
        return client.sendCommand(command)
      },
    },
  })
  return (flight) => {
    next = flight
    // As one array: spread, a long command would overflow the stack.
    const [name, ...args] = withBuffers(flight.command) as [string, ...(string | Buffer)[]]
    return flight.shape.bytes === true ? own.callBuffer(name, args) : own.call(name, args)
  }
}

const PING = '*1\r\n$4\r\nPING\r\n'

function written(this: IoredisCommand, stream: unknown): string | Buffer {
  const { flight } = this
  if (flight!.settled) return PING
  flight!.maybeSent = true
  return Object.getPrototypeOf(this).toWritable.call(this, stream)
}
