import { writeCanonical, type ExactJson } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";

/** A parsed object of a body. */
export type Fields = Readonly<Record<string, unknown>>;

// TC39 "JSON.parse source text access": Node has it, the compiler's library does not yet.
const json = JSON as unknown as { isRawJSON(value: unknown): value is { readonly rawJSON: string } };

/** Most bytes of names, keys, paths and tags (API specification, Limits). */
export const TEXT_BYTES_MAX = 512;

/** Returns whether PostgreSQL can store a text: it has no NUL and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** Returns whether a value is a JSON object. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !json.isRawJSON(value);
}

/** Returns the first of the fields that is neither null nor a blank text. */
export function firstOf(fields: Fields, names: readonly string[]): unknown {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (value !== undefined && value !== null && !(typeof value === "string" && value.trim() === "")) return value;
  }
  return undefined;
}

/** Reads a name: a text of 1 to 512 bytes after trimming. @throws bad_request */
export function readName(value: unknown, name: string, bytesMax = TEXT_BYTES_MAX): string {
  if (typeof value !== "string") throw badRequest(`${name} must be a text`, name);
  const text = value.trim();
  if (text === "" || Buffer.byteLength(text) > bytesMax)
    throw badRequest(`${name} must have 1 to ${bytesMax} bytes`, name);
  if (!isStorable(text)) {
    throw badRequest(`${name} must not contain NUL or lone surrogates`, name);
  }
  return text;
}

/** Most bytes of an id of another tracker: the limit for texts of imports. */
const ID_BYTES_MAX = 32 * 1024;

/** Reads an id of another tracker: a text, or a number that becomes one. @throws bad_request */
export function readSourceId(value: unknown, name: string): string {
  const number = numberOf(value);
  if (number !== undefined) return json.isRawJSON(value) ? value.rawJSON : String(number);
  if (value === undefined || value === null) throw badRequest(`${name} is required`, name);
  return readName(value, name, ID_BYTES_MAX);
}

/** Returns a number as a double, even if JavaScript would have changed its digits; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return json.isRawJSON(value) ? Number(value.rawJSON) : undefined;
}

/** Reads a step, null for none. @throws bad_request */
export function readStep(value: unknown, name: string): number | null {
  if (value === undefined || value === null) return null;
  const step = numberOf(value);
  if (step === undefined || !(step >= 0 && step < Infinity))
    throw badRequest(`${name} must be a finite number from 0`, name);
  return step;
}

/** Reads a size in bytes, null for none. @throws bad_request */
export function readSizeBytes(value: unknown, name: string): number | null {
  if (value === undefined || value === null) return null;
  const size = numberOf(value);
  if (size === undefined || !Number.isSafeInteger(size) || size < 0) {
    throw badRequest(`${name} must be a whole number from 0`, name);
  }
  return size;
}

/** Reads a list; absent and null are empty. @throws bad_request */
export function readList(value: unknown, name: string, itemsMax: number): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw badRequest(`${name} must be a list`, name);
  if (value.length > itemsMax) throw badRequest(`${name} must have at most ${itemsMax} items`, name);
  return value;
}

/** Reads tags. @throws bad_request */
export function readTags(value: unknown, name: string): string[] {
  return readList(value, name, TAGS_MAX).map((tag) => readName(tag, name));
}
const TAGS_MAX = 1000;

/** Reads an object, `{}` when it is absent or null. @throws bad_request */
export function readObject(value: unknown, name: string): Fields {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw badRequest(`${name} must be an object`, name);
  return value;
}

/**
 * Writes a JSON value as it is stored: compact, keys sorted; NUL and lone surrogates in texts become U+FFFD. @throws bad_request for them in keys, and for
 * a number out of range
 */
export function writeStored(value: unknown, name: string): string {
  return writeCanonical(storable(value, name));
}

function storable(value: unknown, name: string): ExactJson {
  if (typeof value === "string") return value.replaceAll("\0", "\uFFFD").toWellFormed();
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    throw badRequest(`${name} contains a number out of range`, name);
  }
  if (typeof value !== "object" || value === null || json.isRawJSON(value)) return value as ExactJson;
  if (Array.isArray(value)) return value.map((part) => storable(part, name));
  const object: Record<string, ExactJson> = {};
  for (const [key, part] of Object.entries(value)) {
    if (!isStorable(key)) {
      throw badRequest(`${name} has a key with NUL or a lone surrogate`, name);
    }
    object[key] = storable(part, name);
  }
  return object;
}

/** Runs the reader of an item and adds its place to errors that the reader throws. */
export function readItem<T>(list: string, index: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if ((error as { reason?: unknown }).reason !== "bad_request") throw error;
    throw badRequest(`${list}[${index}]: ${(error as Error).message}`, list);
  }
}
