import { createHash } from "node:crypto";

/**
 * The id of the child that a keyed fork makes: always the same for one key of one organization, so
 * that a repeat finds the child however late it comes. A UUID of version 8 (RFC 9562), whose bits
 * are SHA-256's.
 */
export function forkRunId(orgId: string, idempotencyKey: string): string {
  const bytes = createHash("sha256").update(`fork ${orgId} ${idempotencyKey}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
