import { courtListenerSettings, defaultBaseUrl } from './courtlistener.ts'
import { standInName, startStandIn } from './stand-in/stand-in.ts'

/** Where the dockets come from: the real API where a token for it is set, else a stand-in that is part of this process. */
export interface Upstream {
  readonly name: string
  readonly isReal: boolean
  readonly token: string
  readonly baseUrl: string
  close(): Promise<void>
}

/** Chooses the upstream by the environment. `dockets` is how many a stand-in has. */
export async function openUpstream(
  env: Readonly<Record<string, string | undefined>>,
  { dockets }: { readonly dockets?: number } = {},
): Promise<Upstream> {
  if ((env['COURTLISTENER_TOKEN'] ?? '').trim() !== '') {
    const { token, baseUrl = defaultBaseUrl } = courtListenerSettings(env)
    return { name: baseUrl, isReal: true, token, baseUrl, close: async () => {} }
  }
  const standIn = await startStandIn(dockets === undefined ? {} : { dockets })
  return {
    name: `a ${standInName} at ${standIn.url}: ${standIn.dockets.length} invented dockets`,
    isReal: false,
    token: 'stand-in-token',
    baseUrl: standIn.url,
    close: () => standIn.close(),
  }
}
