/**
 * An address in the one spelling that RFC 5952 gives it, or `undefined` if it is none. An IPv4-mapped address of IPv6 is
 * the IPv4 address; a zone (`%eth0`, RFC 4007) stays.
 */
export function canonicalAddress(address: string): string | undefined {
  if (IPV4.test(address)) return address
  const [, text, zone = ''] = /^([\da-fA-F:.]{2,45})(%[\w.~-]{1,32})?$/.exec(address) ?? []
  const groups = text === undefined ? undefined : groupsOf(text)
  if (groups === undefined) return undefined
  const [high, low] = [groups[6]!, groups[7]!]
  const mapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (mapped) return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
  return spell(groups) + zone
}

const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`)

/** The eight groups of an IPv6 address (RFC 4291, section 2.2). */
function groupsOf(text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [left, right] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const last = (right ?? left)!
  const tail = last.at(-1)
  if (tail?.includes('.')) {
    if (!IPV4.test(tail)) return undefined
    const [a, b, c, d] = tail.split('.').map(Number) as [number, number, number, number]
    last.splice(-1, 1, (a * 256 + b).toString(16), (c * 256 + d).toString(16))
  }
  const given = [...left!, ...(right ?? [])]
  if (!given.every((group) => /^[\da-fA-F]{1,4}$/.test(group))) return undefined
  const missing = 8 - given.length
  if (right === undefined ? missing !== 0 : missing < 1) return undefined
  return [...left!, ...Array<string>(missing).fill('0'), ...(right ?? [])].map((group) => parseInt(group, 16))
}

/** Lower case, no leading zeros, the first longest run of two or more zero groups as `::`. */
function spell(groups: readonly number[]): string {
  let from = 0
  let most = 1
  for (let at = 0; at < 8; at += 1) {
    let run = 0
    while (groups[at + run] === 0) run += 1
    if (run > most) [from, most] = [at, run]
  }
  const hex = (some: readonly number[]) => some.map((group) => group.toString(16)).join(':')
  return most === 1 ? hex(groups) : `${hex(groups.slice(0, from))}::${hex(groups.slice(from + most))}`
}
