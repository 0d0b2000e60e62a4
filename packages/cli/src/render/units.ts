/** A count as people read it: `1,234,567`. */
export function count(value: number): string {
  return Math.round(value).toLocaleString('en')
}

/** A number of things: `1 key`, `1,234 keys`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** Bytes in the largest unit that leaves a whole digit, by 1,024: `512 B`, `1.5 KB`, `12 MB`. */
export function bytes(value: number): string {
  let unit = 0
  let rest = value
  while (rest >= 1023.5 && unit < UNITS.length - 1) {
    rest /= 1024
    unit += 1
  }
  return `${unit > 0 && rest < 9.95 ? rest.toFixed(1) : Math.round(rest)} ${UNITS[unit]}`
}

/** A time in its largest unit, and the next where that says more: `350 ms`, `12 s`, `1 h 30 min`, `3 d`. */
export function time(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = Math.round(ms / 1000)
  for (const [index, [name, size]] of TIMES.entries()) {
    if (seconds < size) continue
    const whole = Math.floor(seconds / size)
    const next = TIMES[index + 1]
    const rest = next === undefined ? 0 : Math.floor((seconds % size) / next[1])
    return rest === 0 || whole >= 10 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next![0]}`
  }
  return '0 s'
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const
const TIMES = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const
