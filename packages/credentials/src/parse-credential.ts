import { hash, timingSafeEqual } from "node:crypto";
import { checksum } from "./checksum.ts";
import { checksumLength, credentialKinds, type CredentialKind } from "./credential-kind.ts";

/** What a presented credential says about itself; whether it is valid only the stored hash of this id can tell. */
export type ParsedCredential = {
  readonly kind: CredentialKind;
  readonly id: string;
  /** SHA-256 of the text, 32 bytes. */
  readonly hash: Uint8Array;
};

const shape = /^tm_(session_|invite_|share_|embed_|upload_|device_|)([0-9A-Za-z]{12})_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/;
const kindByWord = new Map(
  Object.entries(credentialKinds).map(([kind, word]) => [word as string, kind as CredentialKind]),
);

/** Reads a credential; `undefined` for every text that we cannot have issued, judged by shape and checksum alone. */
export function parseCredential(text: string): ParsedCredential | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [, word = "", id = ""] = match;
  const kind = kindByWord.get(word);
  const bodyEnd = text.length - checksumLength - 1;
  if (kind === undefined || checksum(text.slice(0, bodyEnd)) !== text.slice(bodyEnd + 1)) return undefined;
  return { kind, id, hash: hashCredential(text) };
}

/** What is stored of a credential: SHA-256 of its text, 32 bytes. With 190 random bits no slower hash is needed. */
export function hashCredential(text: string): Uint8Array {
  return hash("sha256", text, "buffer");
}

/** Compares two hashes in a time that does not depend on where they differ. */
export function equalHashes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
