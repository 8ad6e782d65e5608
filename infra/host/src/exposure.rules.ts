import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Returns whether only this machine can reach a listener on an address. `localhost` is the only trusted name. */
export function isLoopback(host: string): boolean {
  if (host.toLowerCase() === "localhost") return true;
  const version = isIP(host);
  return version !== 0 && loopback.check(host, version === 4 ? "ipv4" : "ipv6");
}

const CHARACTERS_MIN = 16;
const DISTINCT_MIN = 6;

/**
 * Placeholders for a token, without separators, and words that people use instead of one. Shorter words are matched only alone: random text
 * contains four given letters somewhere once in 30,000 times.
 */
const WORDS = /change(me|it|this)|replace(me|it|this)|placeholder|your(token|secret|password)|example|insert/;
const COMMON =
  /^(tidemark|internal|shared|my|the|is|a|secret|token|password|passwd|admin|root|test|default|dev|key|todo|fixme|dummy|bootstrap|operator|production|prod|local|server|super|user|letmein|welcome)+$/;
const SEQUENCES = ["0123456789abcdefghijklmnopqrstuvwxyz", "1234567890", "qwertyuiopasdfghjklzxcvbnm"];

/**
 * Returns whether a token could be guessed: too short, of few characters, a placeholder of a document, common words (with digits
 * after them), or the keys in their order.
 */
export function isPlaceholder(token: string): boolean {
  if (token.length < CHARACTERS_MIN || new Set(token).size < DISTINCT_MIN) return true;
  const letters = token.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  if (WORDS.test(letters) || COMMON.test(letters.replaceAll(/\d/g, ""))) return true;
  return SEQUENCES.some((sequence) =>
    sequence.repeat(Math.ceil(letters.length / sequence.length) + 1).includes(letters),
  );
}

/** Tokens that let callers in, by the settings that name them; undefined for one that is not set, which lets no caller in. */
export type TokensBySetting = Readonly<Record<string, string | undefined>>;

/**
 * Returns the fault of the settings that keeps a process from listening on these addresses; undefined if there is none. Beyond loopback any client that
 * reaches the internal ports and knows the token is believed to be any user.
 */
export function exposureFault(hosts: readonly string[], token: string | undefined): string | undefined {
  const open = openHost(hosts);
  if (open === undefined) return undefined;
  if (token === undefined) return `TIDEMARK_INTERNAL_TOKEN is not set, but ${needed(open)}`;
  return isPlaceholder(token) ? `TIDEMARK_INTERNAL_TOKEN can be guessed, but ${needed(open)}` : undefined;
}

/** Returns a fault for each token that others could guess, if others can reach one of the addresses that it opens. */
export function guessFaults(hosts: readonly string[], tokens: TokensBySetting): string[] {
  const open = openHost(hosts);
  if (open === undefined) return [];
  return Object.entries(tokens)
    .filter(([, token]) => token !== undefined && isPlaceholder(token))
    .map(([setting]) => `${setting} can be guessed, but ${needed(open)}`);
}

function openHost(hosts: readonly string[]): string | undefined {
  return hosts.find((host) => !isLoopback(host));
}

function needed(host: string): string {
  return `this process listens on ${host}, beyond loopback: set it to random text, such as openssl rand -base64 32 prints`;
}
