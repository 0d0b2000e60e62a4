import type { Environment } from '../settings.ts'
import { defaultBaseUrl, regulationsSettings } from '../upstream/regulations.ts'
import { standInName, startStandIn } from '../upstream/stand-in.ts'

/** Where the records come from: the real API where a key for it is set, else a stand-in that is part of this process. */
export interface Upstream {
  readonly name: string
  readonly isReal: boolean
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** How many records the stand-in has, where it is needed. */
export interface BacklogSize {
  readonly dockets?: number
  readonly documents?: number
  readonly comments?: number
  readonly attachments?: number
}

/** Chooses the upstream by the environment. */
export async function openUpstream(env: Environment, size: BacklogSize): Promise<Upstream> {
  if ((env['REGULATIONS_API_KEY'] ?? '').trim() !== '') {
    const { baseUrl = defaultBaseUrl } = regulationsSettings(env)
    return { name: baseUrl, isReal: true, env: {}, close: async () => {} }
  }
  const standIn = await startStandIn(size)
  const { url } = standIn
  return {
    name: `a ${standInName} at ${url}: ${standIn.records.length} invented records`,
    isReal: false,
    env: { REGULATIONS_API_KEY: 'DEMO_KEY', REGULATIONS_BASE_URL: url },
    close: () => standIn.close(),
  }
}
