import { AppError } from "@tidemark/errors";
import { createBuckets, type Rate } from "./token-bucket.ts";

/**
 * The limits of embed sessions (contract of embed sessions) and of share links, which cannot be switched off. An address counts as its network. All throw
 * errors with `retryAfterSeconds`.
 */
export type EmbedLimits = {
  /** Counts a session that a key makes. @throws embed_create_rate_limited */
  countCreate(keyId: string): void;
  /** Counts a read of a frame policy. @throws rate_limit_exceeded */
  countPolicy(address: string): void;
  /** Counts a request for the page of a session that has not been looked up yet. @throws rate_limit_exceeded */
  countPage(address: string): void;
  /** Undoes `countPage`, after the session turned out to be valid. */
  forgivePage(address: string): void;
  /** Counts a request with a token that has not been checked yet. @throws rate_limit_exceeded */
  countToken(address: string): void;
  /** Undoes `countToken` for the address, after the token turned out to be valid. */
  forgiveToken(address: string): void;
  /** Counts a request of a session. @throws rate_limit_exceeded */
  countSession(route: "current" | "data", sessionId: string): void;
  /** Counts a read of the data that a share link opens. @throws rate_limit_exceeded */
  countLink(shareId: string): void;
};

const rates = {
  create: { perSecond: 20 / 60, burst: 20 },
  policy: { perSecond: 1, burst: 10 },
  page: { perSecond: 5, burst: 20 },
  address: { perSecond: 5, burst: 20 },
  everybody: { perSecond: 100, burst: 500 },
  current: { perSecond: 2, burst: 10 },
  data: { perSecond: 1, burst: 3 },
  // Its readers share it.
  link: { perSecond: 2, burst: 20 },
} as const satisfies Record<string, Rate>;

/** Creates the limits of this process; `nowMs` is a clock that never goes back. */
export function createEmbedLimits(nowMs: () => number): EmbedLimits {
  const buckets = createBuckets(nowMs);
  const count = (
    rate: keyof typeof rates,
    key: string,
    reason: "rate_limit_exceeded" | "embed_create_rate_limited" = "rate_limit_exceeded",
    what = "of embed sessions",
  ): void => {
    const { allowed, waitSeconds } = buckets.take(`${rate}:${key}`, rates[rate]);
    if (allowed) return;
    throw new AppError(reason, `too many requests ${what}; try again in ${waitSeconds} s`, {
      retryAfterSeconds: waitSeconds,
    });
  };
  return {
    countCreate: (keyId) => count("create", keyId, "embed_create_rate_limited"),
    countPolicy: (address) => count("policy", clientNetwork(address)),
    countPage: (address) => count("page", clientNetwork(address)),
    forgivePage: (address) => buckets.giveBack(`page:${clientNetwork(address)}`, rates.page),
    countToken(address) {
      count("address", clientNetwork(address));
      count("everybody", "");
    },
    forgiveToken: (address) => buckets.giveBack(`address:${clientNetwork(address)}`, rates.address),
    countSession: (route, sessionId) => count(route, sessionId),
    countLink: (shareId) => count("link", shareId, "rate_limit_exceeded", "with this link"),
  };
}

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
