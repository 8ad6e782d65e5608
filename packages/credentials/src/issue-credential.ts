import { checksum } from "./checksum.ts";
import { base62, credentialKinds, idLength, secretLength, type CredentialKind } from "./credential-kind.ts";
import { hashCredential } from "./parse-credential.ts";

/** A new credential. The text is shown to its owner once; only the id and the hash are stored. */
export type IssuedCredential = {
  readonly kind: CredentialKind;
  /** 12 characters of base 62 by which it is looked up; not secret. */
  readonly id: string;
  readonly text: string;
  /** SHA-256 of the text, 32 bytes. */
  readonly hash: Uint8Array;
};

/** Makes a credential. `randomBytes` gives as many unpredictable bytes as it is asked for (`node:crypto`'s will do). */
export function issueCredential(kind: CredentialKind, randomBytes: (count: number) => Uint8Array): IssuedCredential {
  const id = randomDigits(idLength, randomBytes);
  const body = `tm_${credentialKinds[kind]}${id}_${randomDigits(secretLength, randomBytes)}`;
  const text = `${body}_${checksum(body)}`;
  return { kind, id, text, hash: hashCredential(text) };
}

/** Digits of base 62, all equally likely: bytes from 248 would favour the first eight digits and are thrown away. */
function randomDigits(count: number, randomBytes: (count: number) => Uint8Array): string {
  let digits = "";
  while (digits.length < count) {
    for (const byte of randomBytes(count - digits.length)) {
      if (byte < 248) digits += base62[byte % 62];
    }
  }
  return digits;
}
