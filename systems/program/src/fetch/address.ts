import { BlockList, isIP } from 'node:net'

/** True for an IP address that is not on the public internet: private, loopback, link-local, reserved, multicast. */
export function isPrivate(address: string): boolean {
  const family = isIP(address)
  if (family === 0) return true
  return blocked.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

const blocked = new BlockList()

// The special-purpose registries of IANA (RFC 6890 and its successors).
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  blocked.addSubnet(network, prefix, 'ipv4')
  // The same addresses in IPv6 clothes: mapped, and behind NAT64.
  blocked.addSubnet(`::ffff:${network}`, 96 + prefix, 'ipv6')
  blocked.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6')
}
for (const [network, prefix] of [
  // Unspecified, loopback, and IPv4 written as IPv6 without a prefix of its own.
  ['::', 96],
  // IPv4 for a stateless translator (RFC 2765).
  ['::ffff:0:0:0', 96],
  // NAT64 of a local network, which may stand for any IPv4.
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['100:0:0:1::', 64],
  // Teredo among them.
  ['2001::', 23],
  ['2001:db8::', 32],
  // 6to4.
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  // Site-local, given up in 2004 and still routed in places.
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  blocked.addSubnet(network, prefix, 'ipv6')
}
