import { parseArgs } from 'node:util'

import { standInName, startStandIn } from './stand-in.ts'

// Runs the stand-in as a process of its own. The first line of its output is JSON: { name, url, records }.
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    dockets: { type: 'string' },
    documents: { type: 'string' },
    comments: { type: 'string' },
    attachments: { type: 'string' },
    seed: { type: 'string' },
  },
})

const count = (name: 'port' | 'dockets' | 'documents' | 'comments' | 'attachments' | 'seed') => {
  const text = values[name]
  if (text === undefined) return {}
  if (!/^\d+$/.test(text)) {
    process.stderr.write(`--${name} takes a whole number, not "${text}"\n`)
    process.exit(2)
  }
  return { [name]: Number(text) }
}

const standIn = await startStandIn({
  ...count('port'),
  ...count('dockets'),
  ...count('documents'),
  ...count('comments'),
  ...count('attachments'),
  ...count('seed'),
})
process.stdout.write(
  `${JSON.stringify({ name: standInName, url: standIn.url, records: standIn.records.length })}\n`,
)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void standIn.close())
}
