import { isIPv4, isIPv6 } from 'node:net'

/** Networks that IANA lists as not globally reachable, and multicast. */
const PRIVATE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map((network) => networkOf(network, { parse: bitsOfV4, size: 32n }))

/** Global unicast is `2000::/3`; these are the parts of it that are for protocols and documentation. */
const GLOBAL_V6 = networkOf('2000::/3', { parse: bitsOfV6, size: 128n })
const PRIVATE_V6 = ['2001::/23', '2001:db8::/32', '3fff::/20'].map((network) =>
  networkOf(network, { parse: bitsOfV6, size: 128n }),
)

/** IPv6 addresses that stand for an IPv4 address: mapped, NAT64, and 6to4; and where its bits begin. */
const EMBEDDING = [
  { network: '::ffff:0:0/96', shift: 0n },
  { network: '64:ff9b::/96', shift: 0n },
  { network: '2002::/16', shift: 80n },
].map(({ network, shift }) => ({ isIn: networkOf(network, { parse: bitsOfV6, size: 128n }), shift }))

/** Whether packets to an IP address, or to the IPv4 address that it stands for, leave for the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return isPublicV4(bitsOfV4(address))
  // With a zone, it belongs to one link.
  if (!isIPv6(address) || address.includes('%')) return false
  const bits = bitsOfV6(address)
  const embedding = EMBEDDING.find(({ isIn }) => isIn(bits))
  if (embedding) return isPublicV4((bits >> embedding.shift) & 0xffff_ffffn)
  return GLOBAL_V6(bits) && !PRIVATE_V6.some((isIn) => isIn(bits))
}

const isPublicV4 = (bits: bigint) => !PRIVATE_V4.some((isIn) => isIn(bits))

function networkOf(network: string, { parse, size }: { parse(address: string): bigint; size: bigint }) {
  const [address = '', length] = network.split('/')
  const shift = size - BigInt(length ?? 0)
  const prefix = parse(address) >> shift
  return (bits: bigint) => bits >> shift === prefix
}

function bitsOfV4(address: string): bigint {
  return address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n)
}

/** The address must be valid. */
function bitsOfV6(address: string): bigint {
  const [head = '', tail] = address.replace(/[\d.]+$/, dottedAsHex).split('::')
  const start = groupsOf(head)
  const end = groupsOf(tail ?? '')
  const zeros = Array.from({ length: 8 - start.length - end.length }, () => '0')
  return [...start, ...zeros, ...end].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n)
}

function groupsOf(text: string): string[] {
  return text.split(':').filter((group) => group !== '')
}

/** The last 32 bits may be written as an IPv4 address. */
function dottedAsHex(end: string): string {
  if (!end.includes('.')) return end
  const bits = bitsOfV4(end)
  return `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`
}
