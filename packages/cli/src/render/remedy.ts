import type { Remedy, Setting } from '@keyspec/inspect'
import { addressWord, atNode, type Place, redisCliWords } from './place.ts'
import { keyOperand, optionWords, redisCli, shellWord } from './shell.ts'

/** What to do, in one line: mostly the command line that does it. */
export function remedyText(remedy: Remedy, place: Place): string {
  switch (remedy.kind) {
    case 'declare': {
      const more = `${keyspec(place, 'stats', '--by prefix', option('under', remedy.under))} shows more`
      const declare = 'declare it in the schema: as external() if another program writes it'
      return remedy.under === '' ? declare : `${declare}; ${more}`
    }
    case 'persist':
      return `${redisCli(['PERSIST'], { key: remedy.key, to: redisCliWords(place) })}, and find out who gives it a time to live`
    case 'stop-then-migrate':
      return `stop the programs that know only the old name, then ${migrate(remedy.entry, place)} --keep new`
    case 'see-biggest':
      return `${keyspec(place, 'stats', option('entry', remedy.entry))} shows the biggest`
    case 'repair':
      return `repair() of ${remedy.entry}, in a program that opens the schema`
    case 'examine':
      return `${keyspec(place, 'doctor')} says which policy fits; or give these keys a server of their own`
    default:
      return commandLines(remedy, place).join('; ')
  }
}

/** What to do, a line for each step. */
export function remedyLines(remedy: Remedy, place: Place): string[] {
  const lines = commandLines(remedy, place)
  return lines.length > 0 ? lines : [remedyText(remedy, place)]
}

/** Command lines that can be run as they stand; none where something else is to be done first. */
export function commandLines(remedy: Remedy, place: Place): string[] {
  const to = redisCliWords(place)
  switch (remedy.kind) {
    case 'explain':
      return [keyspec(place, 'explain', keyOperand(remedy.key))]
    case 'give-ttl':
      return [keyspec(place, 'cleanup', option('entry', remedy.entry), '--repair')]
    case 'cap-ttl':
      return [keyspec(place, 'cleanup', option('entry', remedy.entry), '--cap')]
    case 'migrate':
      return [migrate(remedy.entry, place)]
    case 'verify-migration':
      return [keyspec(place, 'migrate verify')]
    case 'look-for-evidence':
      return [keyspec(place, 'check', option('against', place.against ?? 'manifest.json'), '--server')]
    case 'erase':
      return [keyspec(place, 'erase', option('entry', remedy.entry), '--dry-run')]
    case 'configure':
      return remedy.settings.map(({ parameter, value }) =>
        redisCli(['CONFIG', 'SET', parameter, value], { to }),
      )
    case 'allow':
      return [allow(remedy, redisCliWords(place, { asUser: false }))]
    case 'send':
      return [redisCli(remedy.command, { to: redisCliWords(atNode(place, remedy.to)) })]
    case 'check-cluster':
      return [cluster('check', place)]
    case 'fix-cluster':
      return [cluster('fix', place)]
    case 'set-clock':
      return ['timedatectl set-ntp true']
    case 'connect-cluster':
      return [keyspec(place, 'doctor', '--cluster')]
    case 'declare':
    case 'persist':
    case 'stop-then-migrate':
    case 'see-biggest':
    case 'repair':
    case 'examine':
      return []
  }
}

/** Lines of redis.conf that keep it so. */
export function confLines(remedy: Remedy): string[] {
  if (remedy.kind === 'configure') return remedy.settings.map(confLine)
  if (remedy.kind !== 'allow' || remedy.tool !== undefined) return []
  return [`user ${remedy.user ?? '<user>'} … ${remedy.rules.join(' ')}`]
}

function confLine({ parameter, value }: Setting): string {
  return `${parameter} ${value === '' || value.includes(' ') ? `"${value}"` : value}`
}

/** A line of `keyspec` for the same keys: what it is told of them stands before what it is told to do, and any operand. */
function keyspec(place: Place, verb: string, ...rest: readonly string[]): string {
  return ['keyspec', verb, ...place.keyspec.map(shellWord), ...rest].join(' ')
}

function cluster(verb: string, place: Place): string {
  const { options, user } = place
  return ['redis-cli', '--cluster', verb, addressWord(place), ...options, ...user].map(shellWord).join(' ')
}

function migrate(entry: string, place: Place): string {
  return keyspec(place, 'migrate run', option('entry', entry))
}

function option(name: string, value: string): string {
  return optionWords(name, value).map(shellWord).join(' ')
}

function allow({ user, rules, tool }: Extract<Remedy, { kind: 'allow' }>, to: readonly string[]): string {
  const line = redisCli(['ACL', 'SETUSER', user ?? '<user>', ...rules], { to })
  return tool === undefined ? line : `${line}  # ${tool}`
}
