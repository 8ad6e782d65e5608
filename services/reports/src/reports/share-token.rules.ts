import { equalHashes, parseCredential, type ParsedCredential } from "@tidemark/credentials";

/** Reads a share token; undefined for a text that cannot be one. */
export function readShareToken(text: string): ParsedCredential | undefined {
  const token = parseCredential(text);
  return token?.kind === "share" ? token : undefined;
}

/** Returns whether a token is the stored one, and not older than `ttlSeconds` (0: any age). */
export function isValidShare(
  token: Pick<ParsedCredential, "hash">,
  stored: { readonly hash: Uint8Array; readonly issuedAt: string },
  ttlSeconds: number,
  now: Date,
): boolean {
  if (!equalHashes(token.hash, stored.hash)) return false;
  return ttlSeconds === 0 || now.getTime() < Date.parse(stored.issuedAt) + ttlSeconds * 1000;
}
