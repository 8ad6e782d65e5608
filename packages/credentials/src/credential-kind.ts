/**
 * What the product hands out as opaque secrets, by the word that their text carries after `tm_`.
 * An API key carries none: `tm_<id>_<secret>_<crc>`; a session is `tm_session_<id>_<secret>_<crc>`.
 */
export const credentialKinds = {
  api_key: "",
  session: "session_",
  invite: "invite_",
  share: "share_",
  embed: "embed_",
  upload: "upload_",
  device: "device_",
} as const;

/** A kind of credential. */
export type CredentialKind = keyof typeof credentialKinds;

/** The digits of ids, secrets and checksums. */
export const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Characters of the public id: 71 bits, so that two never meet. */
export const idLength = 12;

/** Characters of the secret: 190 bits, so that a plain hash protects it. */
export const secretLength = 32;

/** Characters of the checksum. */
export const checksumLength = 6;

/** How many characters of an API key its owner is shown afterwards (`key_prefix`); they reach into the id, never into the secret. */
export const keyPrefixLength = 14;
