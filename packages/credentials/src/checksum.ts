import { crc32 } from "node:zlib";
import { base62, checksumLength } from "./credential-kind.ts";

/**
 * CRC-32 of a text in base 62, padded with `0` to six characters. It lets scanners and servers tell
 * a credential from a look-alike without a look-up; it protects nothing.
 */
export function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < checksumLength; i += 1) {
    digits = `${base62[rest % 62]}${digits}`;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
