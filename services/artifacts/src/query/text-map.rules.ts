import { badRequest } from "@tidemark/errors";
import { MODELS, TEXT_TAGS } from "@tidemark/limits";

/** Texts by key: tags, params. */
export type TextMap = Readonly<Record<string, string>>;

/**
 * Requires keys of 1 to 1,024 bytes and texts of at most `valueBytesMax`, without NUL.
 * @throws bad_request
 */
export function requireTexts(texts: TextMap, field: string, valueBytesMax: number = TEXT_TAGS.valueBytesMax): void {
  for (const [key, value] of Object.entries(texts)) {
    if (key === "" || Buffer.byteLength(key) > TEXT_TAGS.keyBytesMax) {
      throw badRequest(`keys of ${field} must have 1 to ${TEXT_TAGS.keyBytesMax} bytes`, field);
    }
    if (Buffer.byteLength(value) > valueBytesMax) {
      throw badRequest(`values of ${field} must have at most ${valueBytesMax} bytes`, field);
    }
    if (key.includes("\0") || value.includes("\0")) throw badRequest(`${field} must not contain NUL`, field);
  }
}

/** Requires that texts that are kept together have at most 1 MiB as JSON. Returns their bytes. @throws bad_request */
export function requireSmall(...maps: readonly TextMap[]): number {
  const bytes = maps.reduce((sum, texts) => sum + Buffer.byteLength(JSON.stringify(texts)), 0);
  if (bytes > MODELS.textBytesMax) {
    throw badRequest(`tags and params must have at most ${MODELS.textBytesMax} bytes together`, "tags");
  }
  return bytes;
}

/** Requires a text of at most `bytesMax` bytes without NUL. @throws bad_request */
export function requireShort(text: string, bytesMax: number, field: string, bytesMin = 0): string {
  const bytes = Buffer.byteLength(text);
  if (bytes < bytesMin) throw badRequest(`${field} is required`, field);
  if (bytes > bytesMax) throw badRequest(`${field} must have at most ${bytesMax} bytes`, field);
  if (text.includes("\0")) throw badRequest(`${field} must not contain NUL`, field);
  return text;
}

/** Returns texts with some set and some removed. */
export function changed(texts: TextMap, set: TextMap, removed: readonly string[]): TextMap {
  const kept = Object.entries(texts).filter(([key]) => !removed.includes(key));
  return Object.fromEntries([...kept, ...Object.entries(set)]);
}
