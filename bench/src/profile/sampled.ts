import type { Profiler } from 'node:inspector'
import { Session } from 'node:inspector/promises'

/** What some work came to, and where this process was meanwhile. */
export interface Sampled<T> {
  readonly result: T
  readonly profile: Profiler.Profile
}

const EVERY_MICROS = 500

/** Does some work under Node's CPU profiler. */
export async function sampled<T>(work: () => Promise<T>): Promise<Sampled<T>> {
  const session = new Session()
  session.connect()
  const leaveJson = enterJson()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: EVERY_MICROS })
    await session.post('Profiler.start')
    const result = await work()
    const { profile } = await session.post('Profiler.stop')
    return { result, profile }
  } finally {
    leaveJson()
    session.disconnect()
  }
}

/** Makes JSON's two functions ours: the engine's own have no frame in a profile, so that their time is their caller's. */
function enterJson(): () => void {
  const { parse, stringify } = JSON
  JSON.parse = (text, reviver) => parse(text, reviver)
  JSON.stringify = (value: unknown, replacer?: never, space?: never) => stringify(value, replacer, space)
  return () => Object.assign(JSON, { parse, stringify })
}
