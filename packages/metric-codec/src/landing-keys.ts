import { codecError } from "./codec-error.ts";

/** Keys one after another in UTF-8, and the bytes of each. */
export type PackedKeys = { readonly bytes: Uint8Array; readonly lengths: Uint16Array };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Packs keys. Throws a CodecError for a key with a lone surrogate, which has no UTF-8 form, or of more than 65,535 bytes. */
export function packKeys(keys: readonly string[]): PackedKeys {
  const joined = keys.join("");
  const bytes = encoder.encode(joined);
  // As many bytes as UTF-16 units: all keys are ASCII, and the usual batch needs no second look at them.
  const ascii = bytes.length === joined.length;
  const lengths = new Uint16Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (!ascii && !key.isWellFormed()) throw codecError("a key holds a lone surrogate");
    const length = ascii ? key.length : encoder.encode(key).length;
    if (length > 0xffff) throw codecError("a key is longer than 65,535 bytes");
    lengths[i] = length;
  }
  return { bytes, lengths };
}

/** The keys of {@link packKeys}. Throws a CodecError when the lengths do not add up to the bytes or a key is not UTF-8. */
export function unpackKeys(bytes: Uint8Array, lengths: Uint16Array): string[] {
  let total = 0;
  for (const length of lengths) total += length;
  if (total !== bytes.length) throw codecError("the key lengths do not add up");
  const joined = decodeUtf8(bytes);
  const ascii = joined.length === bytes.length;
  const keys: string[] = [];
  let at = 0;
  for (const length of lengths) {
    keys.push(ascii ? joined.slice(at, at + length) : decodeUtf8(bytes.subarray(at, at + length)));
    at += length;
  }
  return keys;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw codecError("a key is not UTF-8");
  }
}
