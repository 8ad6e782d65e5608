import { hash, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * The kinds of opaque secrets that the product issues, with the word that their text has after `tm_`. An API key has none:
 * `tm_<id>_<secret>_<crc>`; a session is `tm_session_<id>_<secret>_<crc>`.
 */
export const credentialKinds = {
  api_key: "",
  session: "session_",
  invite: "invite_",
  share: "share_",
  embed: "embed_",
  upload: "upload_",
  device: "device_",
  one_time: "once_",
} as const;

/** A kind of credential. */
export type CredentialKind = keyof typeof credentialKinds;

/** The digits of ids, secrets and checksums. */
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Characters of the public id: 71 bits, so that two are never equal. */
const idLength = 12;

/** Characters of the secret: 190 bits, so that a plain hash protects it. */
const secretLength = 32;

/** Characters of the checksum. */
const checksumLength = 6;

/** How many characters of an API key stay visible to its owner (`key_prefix`); they end in the id, before the secret. */
export const keyPrefixLength = 14;

/** Every scope: what a credential may be allowed to do (API specification, Authentication). */
export const scopes = [
  "sdk:ingest",
  "export:read",
  "runs:control",
  "artifacts:write",
  "artifacts:manage",
  "imports:write",
  "usage:read",
  "api_keys:write",
] as const;

/** A scope. */
export type Scope = (typeof scopes)[number];

/** A new credential. The text is shown to its owner once; only the id and the hash are stored. */
export type IssuedCredential = {
  readonly kind: CredentialKind;
  /** 12 characters of base 62 that identify the credential; not secret. */
  readonly id: string;
  readonly text: string;
  /** SHA-256 of the text, 32 bytes. */
  readonly hash: Uint8Array;
};

/** Creates a credential. `randomBytes` returns the requested number of unpredictable bytes, as in `node:crypto`. */
export function issueCredential(kind: CredentialKind, randomBytes: (count: number) => Uint8Array): IssuedCredential {
  const id = randomDigits(idLength, randomBytes);
  const body = `tm_${credentialKinds[kind]}${id}_${randomDigits(secretLength, randomBytes)}`;
  const text = `${body}_${checksum(body)}`;
  return { kind, id, text, hash: hashCredential(text) };
}

/** Returns digits of base 62, all equally likely: bytes from 248 would favor the first eight digits and are discarded. */
function randomDigits(count: number, randomBytes: (count: number) => Uint8Array): string {
  let digits = "";
  while (digits.length < count) {
    for (const byte of randomBytes(count - digits.length)) {
      if (byte < 248) digits += base62[byte % 62];
    }
  }
  return digits;
}

/** The content of a credential's text. Only the stored hash of this id shows whether the credential is valid. */
export type ParsedCredential = {
  readonly kind: CredentialKind;
  readonly id: string;
  /** SHA-256 of the text, 32 bytes. */
  readonly hash: Uint8Array;
};

const shape =
  /^tm_(session_|invite_|share_|embed_|upload_|device_|once_|)([0-9A-Za-z]{12})_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/;
const kindByWord = new Map(
  Object.entries(credentialKinds).map(([kind, word]) => [word as string, kind as CredentialKind]),
);

/** Reads a credential; returns undefined for a text that cannot have been issued, by its shape and its checksum. */
export function parseCredential(text: string): ParsedCredential | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [, word = "", id = ""] = match;
  const kind = kindByWord.get(word);
  const bodyEnd = text.length - checksumLength - 1;
  if (kind === undefined || checksum(text.slice(0, bodyEnd)) !== text.slice(bodyEnd + 1)) return undefined;
  return { kind, id, hash: hashCredential(text) };
}

/** Returns the stored form of a credential: SHA-256 of its text, 32 bytes. With 190 random bits a slower hash is not needed. */
export function hashCredential(text: string): Uint8Array {
  return hash("sha256", text, "buffer");
}

/** Compares two hashes in a time that does not depend on where they differ. */
export function equalHashes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * Returns the CRC-32 of a text in base 62, padded with `0` to six characters. With it scanners and servers distinguish a credential
 * from a similar text without a look-up; it does not protect anything.
 */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < checksumLength; i += 1) {
    digits = `${base62[rest % 62]}${digits}`;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
