import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Trial, Trier } from '../trial.ts'
import type { ArchiveOptions, Moved } from './archive-member.ts'

const MANY = 1_000_000
const FEW = 100_000

/** All keys of a server: into a file, out of it, and to another server. */
export const archive: Trial = {
  name: 'archive',
  about:
    `${MANY.toLocaleString('en')} keys (${FEW.toLocaleString('en')} in a quick look): exported to a file, imported from it, or ` +
    'copied to another server. By hand there is no file: values are read into memory, or written from it. One at a time, a ' +
    'twentieth of the keys tells the rate. Client CPU, and CPU of the servers, are of one key.',
  figures: {
    perSecond: { label: 'keys a second' },
    clientMicros: { label: 'client CPU', unit: 'µs' },
    serverMicros: { label: 'server CPU', unit: 'µs' },
    peakMB: { label: 'peak memory', unit: 'MB' },
  },
  cases: ['export', 'import', 'copy'],
  rounds: 3,
  contenders: {
    keyspec: { label: 'Keyspec', run: moving('keyspec') },
    one: {
      label: 'SCAN, DUMP, PTTL, RESTORE with node-redis as it comes, one at a time',
      run: moving('one'),
    },
    page: { label: 'the same, a page of SCAN at a time', run: moving('page') },
    migrate: { label: 'SCAN and MIGRATE COPY KEYS, a page at a time', run: moving('migrate') },
  },
  targets: [
    ...['export', 'import'].map((name) => ({
      case: name,
      figure: 'perSecond',
      ours: 'keyspec',
      against: ['one'],
      atLeast: 4,
    })),
    { case: 'copy', figure: 'perSecond', ours: 'keyspec', against: ['migrate'], atLeast: 0.9 },
    ...['export', 'import', 'copy'].map((name) => ({
      case: name,
      figure: 'peakMB',
      ours: 'keyspec',
      atMost: 200,
    })),
  ],
}

function moving(contender: ArchiveOptions['contender']): Trier['run'] {
  return async (name, { server, crowd, quick }) => {
    if ((contender === 'migrate') !== (name === 'copy') && contender !== 'keyspec') return undefined
    const [from, to] = [await server(), await server()]
    const folder = mkdtempSync(join(tmpdir(), 'keyspec-bench-'))
    const given: ArchiveOptions = {
      contender,
      from: from.address,
      to: to.address,
      keys: quick ? FEW : MANY,
      file: join(folder, 'all.keyspec'),
    }
    // A process for each thing, so that no other's memory is counted.
    const alone = async (words: readonly string[]): Promise<Moved> => {
      const process = await crowd<ArchiveOptions, Moved>([
        { module: ['./archive-member.js', import.meta.url], given },
      ])
      const [first, ...others] = words
      let [moved] = (await process.go(first!)) as [Moved]
      for (const word of others) [moved] = (await process.go(word)) as [Moved]
      process.end()
      return moved
    }
    try {
      await alone(name === 'import' && contender === 'keyspec' ? ['fill', 'export'] : ['fill'])
      const before = [await from.spent(), await to.spent()]
      const { keys, tookMs, clientMicros, peakMB } = await alone([name])
      const after = [await from.spent(), await to.spent()]
      const spent = after.reduce((sum, { cpuMicros }, index) => sum + cpuMicros - before[index]!.cpuMicros, 0)
      return {
        perSecond: (keys / tookMs) * 1000,
        clientMicros: clientMicros / keys,
        // By hand the values that an import writes are read by the way, and that is no part of it.
        ...(name === 'import' && contender !== 'keyspec' ? {} : { serverMicros: spent / keys }),
        peakMB,
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
}
