import type { Connection } from 'keyspec'
import type { Call, Given, Options, Settings } from './command.ts'
import type { serverOptions } from './options.ts'
import { loadConfig } from './config/load.ts'
import { openServer, openServerBriefly, requireWhole, type Target, targetOf, urlOf } from './connect.ts'
import type { Host } from './host.ts'
import { log } from './terminal/log.ts'
import { output } from './terminal/output.ts'

/** Opens what a command may use; `close` ends every connection that it made. */
export function openCall(
  options: Given<Options>,
  operands: readonly string[],
  host: Host,
): { readonly call: Call; close(): Promise<void> } {
  const given = options as Given<typeof serverOptions> & {
    json?: boolean
    yes?: boolean
    'no-color'?: boolean
  }
  const env = given['no-color'] === true ? { ...host.env, NO_COLOR: '1' } : host.env
  const closing: (() => Promise<void>)[] = []
  const messages = log(host.stderr, env)
  let settings: Promise<Settings> | undefined
  let connection: Promise<Connection> | undefined
  let whole: Promise<Connection> | undefined

  const entire = async (open: Connection, flag: string): Promise<Connection> => {
    await requireWhole(open, flag)
    return open
  }
  const open = async (target: Target, opener = openServer): Promise<Connection> => {
    const server = await opener(target)
    closing.push(server.close)
    return server.connection
  }
  const openConfigured = async (opener: typeof openServer): Promise<Connection> => {
    const config = await call.config()
    if (urlOf(given, env) !== undefined || config.connect === undefined)
      return open(targetOf(given, env, config), opener)
    const own = await config.connect()
    closing.push(own.close)
    return own.connection
  }

  const call: Call = {
    options,
    operands,
    out: output(host.stdout, env, given.json === true),
    log: messages,
    signal: host.signal,
    cwd: host.cwd,
    env,
    config: () => (settings ??= loadConfig(given, host.cwd)),
    connect: () => (whole ??= call.connectAnywhere().then((open) => entire(open, '--cluster'))),
    connectAnywhere: () => (connection ??= openConfigured(openServer)),
    connectBriefly: () => (connection ??= openConfigured(openServerBriefly)),
    connectTo: async ({ url, cluster, flag }) => entire(await open({ url, cluster }), flag),
    attended: host.stdin.isTTY === true && host.stderr.isTTY === true,
    async confirm(question, word) {
      if (given.yes === true) return true
      if (!call.attended) return false
      const { createInterface } = await import('node:readline/promises')
      const prompt = createInterface({ input: host.stdin, output: host.stderr as NodeJS.WritableStream })
      try {
        const answer = await prompt.question(`${question} Type "${word}" to go on: `, { signal: host.signal })
        return answer.trim() === word
      } finally {
        prompt.close()
      }
    },
  }
  return {
    call,
    async close() {
      messages.done()
      for (const end of closing.toReversed()) await end()
    },
  }
}
