import type { Remedy, Setting } from '@keyspec/inspect'
import { keyOperand, optionWords, redisCli, shellWord } from './shell.ts'

/** What to do, in one line: mostly the command line that does it. */
export function remedyText(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'declare': {
      const more = `keyspec stats --by prefix ${option('under', remedy.under)} shows more`
      const declare = 'declare it in the schema: as external() if another program writes it'
      return remedy.under === '' ? declare : `${declare}; ${more}`
    }
    case 'persist':
      return `${redisCli(['PERSIST'], remedy.key)}, and find out who gives it a time to live`
    case 'stop-then-migrate':
      return `stop the programs that know only the old name, then ${migrate(remedy.entry)} --keep new`
    case 'see-biggest':
      return `keyspec stats ${option('entry', remedy.entry)} shows the biggest`
    case 'repair':
      return `repair() of ${remedy.entry}, in a program that opens the schema`
    case 'examine':
      return 'keyspec doctor says which policy fits; or give these keys a server of their own'
    default:
      return commandLines(remedy).join('; ')
  }
}

/** What to do, a line for each step. */
export function remedyLines(remedy: Remedy): string[] {
  const lines = commandLines(remedy)
  return lines.length > 0 ? lines : [remedyText(remedy)]
}

/** Command lines that can be run as they stand; none where something else is to be done first. */
export function commandLines(remedy: Remedy): string[] {
  switch (remedy.kind) {
    case 'explain':
      return [`keyspec explain ${keyOperand(remedy.key)}`]
    case 'give-ttl':
      return [`keyspec cleanup ${option('entry', remedy.entry)} --repair`]
    case 'cap-ttl':
      return [`keyspec cleanup ${option('entry', remedy.entry)} --cap`]
    case 'migrate':
      return [migrate(remedy.entry)]
    case 'verify-migration':
      return ['keyspec migrate verify']
    case 'look-for-evidence':
      return ['keyspec check --server']
    case 'erase':
      return [`keyspec erase ${option('entry', remedy.entry)} --dry-run`]
    case 'configure':
      return remedy.settings.map(({ parameter, value }) => redisCli(['CONFIG', 'SET', parameter, value]))
    case 'allow':
      return [allow(remedy)]
    case 'send':
      return [
        remedy.to === undefined
          ? redisCli(remedy.command)
          : redisCli(['-u', `redis://${remedy.to}`, ...remedy.command]),
      ]
    case 'check-cluster':
      return ['redis-cli --cluster check HOST:PORT']
    case 'fix-cluster':
      return ['redis-cli --cluster fix HOST:PORT']
    case 'set-clock':
      return ['timedatectl set-ntp true']
    case 'connect-cluster':
      return ['keyspec doctor --cluster']
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

function migrate(entry: string): string {
  return `keyspec migrate run ${option('entry', entry)}`
}

function option(name: string, value: string): string {
  return optionWords(name, value).map(shellWord).join(' ')
}

function allow({ user, rules, tool }: Extract<Remedy, { kind: 'allow' }>): string {
  const line = redisCli(['ACL', 'SETUSER', user ?? '<user>', ...rules])
  return tool === undefined ? line : `${line}  # ${tool}`
}
