import { type Sample, sample } from '../resource/sample.ts'
import type { Tallies } from './tally.ts'

/** What the traffic goes to. */
export interface TrafficOptions {
  readonly url: string
  /** Where the web pages are; none are read without it. */
  readonly site: string | undefined
  readonly users: number
  readonly tallies: Tallies
  /** Ends the traffic, after a few turns of each at the least. */
  readonly enough: AbortSignal
  /** Ends it at once. */
  readonly stop: AbortSignal
}

const files: readonly Sample[] = ['lantern-revolt.md', 'moss-clocks.txt']
const pages = ['tide-mills', 'tide-mills?utm_source=mail', 'salt-roads', 'salt-roads#top']
const videos = ['tidemill001', 'https://youtu.be/lanterns_04']
// So many that each meets a limit, however slow the machine.
const LEAST_TURNS = 4
const questions = [
  'What was the Lantern Revolt?',
  'Who put out the lantern at Threewell?',
  'When did the Lantern Revolt begin?',
  'How does a moss clock tell the time?',
  'Why did the salt carriers revolt?',
  'How do I bake sourdough bread?',
]

/** Users who all do what students do, and a little more than they may: each opens a session, reads and asks. */

export async function traffic(options: TrafficOptions): Promise<void> {
  await Promise.all(
    Array.from({ length: options.users }, (_, at) => student(`student-${at + 1}`, at, options)),
  )
}

async function student(
  user: string,
  at: number,
  { url, site, tallies, enough, stop }: TrafficOptions,
): Promise<void> {
  const path = `/sessions/${user}`
  const post = async (kind: string, path: string, body: object | string | Buffer) => {
    if (stop.aborted) return
    const startedAt = performance.now()
    const isFile = typeof body === 'string' || Buffer.isBuffer(body)
    const sent = isFile ? body : JSON.stringify(body)
    const headers: Record<string, string> = isFile ? {} : { 'Content-Type': 'application/json' }
    try {
      const response = await fetch(url + path, {
        method: 'POST',
        body: sent as string,
        headers,
        signal: stop,
      })
      await response.arrayBuffer()
      tallies.add(kind, response.status, performance.now() - startedAt)
    } catch (error) {
      if (!stop.aborted) throw error
    }
  }

  await post('sessions', '/sessions', { user_id: user, classroom_id: 'harrow-plain' })
  for (let turn = 0; !stop.aborted && (turn < LEAST_TURNS || !enough.aborted); turn += 1) {
    const nth = <T>(list: readonly T[]) => list[(at + turn) % list.length]!
    for (const file of files) await post('file_upload', `${path}/files?name=${file}`, sample(file))
    if (site !== undefined) await post('web_search', `${path}/pages`, { url: `${site}/${nth(pages)}` })
    await post('web_search', `${path}/videos`, { video: nth(videos) })
    await post('tutor_query', `${path}/questions`, { question: questions[turn % questions.length]! })
    await post('tutor_query', `${path}/questions`, { question: nth(questions) })
    await post('suggestions', `${path}/suggestions`, { most: 1 })
  }
}
