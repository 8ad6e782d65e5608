const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * Returns what an address is counted as: an IPv4 address by itself, an IPv6 address by its first 64 bits, because a client with one address of such a
 * network usually has all of them (RFC 6177). IPv4 addresses that are written as IPv6 ones count as IPv4 addresses.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.split("%", 1)[0]!.split("::", 2);
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, IPV6_GROUPS - before.length - after.length) }, () => "0");
  const network = [...before, ...zeros, ...after].slice(0, NETWORK_GROUPS);
  return `${network.map((group) => group.toLowerCase().replace(/^0+(?=.)/, "")).join(":")}::/64`;
}
