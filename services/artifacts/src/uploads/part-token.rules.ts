import { createHmac, timingSafeEqual } from "node:crypto";
import { credentialKinds } from "@tidemark/credentials";

/** A part of a file of an upload, and the time until which it may be sent. */
export type SignedPart = {
  readonly orgId: string;
  readonly sessionId: string;
  readonly fileId: string;
  readonly partNumber: number;
  /** Whole seconds since the Unix epoch. */
  readonly expiresAt: number;
  /** The recipient of the address: a number of `CallerKind`, and the id of the API key or session. */
  readonly callerKind: number;
  readonly credentialId: string;
};

const PREFIX = `tm_${credentialKinds.upload}`;
const UUID_BYTES = 16;
const KIND_AT = 3 * UUID_BYTES + 4 + 8;
/** Bytes before the id of the credential. */
const FIELDS_BYTES = KIND_AT + 1;
const ID_BYTES_MAX = 64;
const MAC_BYTES = 32;

/**
 * Returns the credential for sending one part to this installation: the part, its sender and an HMAC-SHA-256 (RFC 2104) over it, in base64url after `tm_upload_`.
 * It is not stored.
 */
export function signPart(secret: Uint8Array, part: SignedPart): string {
  const fields = Buffer.alloc(FIELDS_BYTES);
  [part.orgId, part.sessionId, part.fileId].forEach((id, i) =>
    Buffer.from(id.replaceAll("-", ""), "hex").copy(fields, i * UUID_BYTES),
  );
  fields.writeUInt32BE(part.partNumber, 3 * UUID_BYTES);
  fields.writeBigUInt64BE(BigInt(part.expiresAt), 3 * UUID_BYTES + 4);
  fields.writeUInt8(part.callerKind, KIND_AT);
  const signed = Buffer.concat([fields, Buffer.from(part.credentialId)]);
  return PREFIX + Buffer.concat([signed, macOf(secret, signed)]).toString("base64url");
}

/** Reads a credential of {@link signPart}; undefined for a text that was not signed with the secret. The caller checks whether it has expired. */
export function readPartToken(secret: Uint8Array, token: string): SignedPart | undefined {
  if (!token.startsWith(PREFIX) || !/^[\w-]+$/.test(token)) return undefined;
  const bytes = Buffer.from(token.slice(PREFIX.length), "base64url");
  const idBytes = bytes.length - FIELDS_BYTES - MAC_BYTES;
  if (idBytes < 0 || idBytes > ID_BYTES_MAX) return undefined;
  const fields = bytes.subarray(0, FIELDS_BYTES + idBytes);
  if (!timingSafeEqual(bytes.subarray(fields.length), macOf(secret, fields))) return undefined;
  const idAt = (i: number): string =>
    fields.toString("hex", i * UUID_BYTES, (i + 1) * UUID_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  return {
    orgId: idAt(0),
    sessionId: idAt(1),
    fileId: idAt(2),
    partNumber: fields.readUInt32BE(3 * UUID_BYTES),
    expiresAt: Number(fields.readBigUInt64BE(3 * UUID_BYTES + 4)),
    callerKind: fields.readUInt8(KIND_AT),
    credentialId: fields.toString("utf8", FIELDS_BYTES),
  };
}

function macOf(secret: Uint8Array, fields: Uint8Array): Buffer {
  return createHmac("sha256", secret).update(fields).digest();
}
