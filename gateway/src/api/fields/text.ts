import { badRequest } from "@tidemark/errors";
import { present, readList, type Fields } from "./present.ts";

/** Most bytes of a name, path or tag in UTF-8 (API specification, Limits). */
const TEXT_BYTES_MAX = 512;

/** What a text of nothing but white space means: a mistake, no value, or the empty text. */
export type BlankText = "refused" | "absent" | "empty";

export type TextOptions = {
  /** Most bytes in UTF-8 after trimming; 512 when left out. */
  readonly bytesMax?: number;
};

/**
 * Checks one text: trimmed, not empty, at most `bytesMax` bytes of UTF-8, without NUL and without
 * lone surrogates, neither of which can be stored. `name` is how the caller knows the field.
 * @throws bad_request
 */
export function requireText(value: unknown, name: string, options: TextOptions = {}): string {
  const text = trimmed(value, name, options);
  if (text === "") throw badRequest(`${name} must not be empty`, name);
  return text;
}

function trimmed(value: unknown, name: string, { bytesMax = TEXT_BYTES_MAX }: TextOptions): string {
  if (typeof value !== "string") throw badRequest(`${name} must be a text`, name);
  const text = value.trim();
  // A UTF-16 unit takes at most three bytes, so short texts need no counting.
  if (text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax) {
    throw badRequest(`${name} must have at most ${bytesMax} bytes`, name);
  }
  if (text.includes("\0") || !text.isWellFormed()) {
    throw badRequest(`${name} must not contain NUL or lone surrogates`, name);
  }
  return text;
}

/** A text that must be there, checked as `requireText` does. @throws bad_request */
export function readText(fields: Fields, name: string, options: TextOptions = {}): string {
  const value = present(fields, name);
  if (value === undefined) throw badRequest(`${name} is required`, name);
  return requireText(value, name, options);
}

/** A text that may be absent; `blank` (refused unless said) decides about white space. @throws bad_request */
export function readOptionalText(
  fields: Fields,
  name: string,
  options: TextOptions & { readonly blank?: BlankText } = {},
): string | undefined {
  const value = present(fields, name);
  if (value === undefined) return undefined;
  const { blank = "refused" } = options;
  if (blank === "refused") return requireText(value, name, options);
  const text = trimmed(value, name, options);
  return text === "" && blank === "absent" ? undefined : text;
}

/** Texts such as tags, each checked as `requireText` does; duplicates and order are kept. `undefined` when absent. @throws bad_request */
export function readTextList(
  fields: Fields,
  name: string,
  options: TextOptions & { readonly itemsMin?: number; readonly itemsMax?: number } = {},
): string[] | undefined {
  return readList(fields, name, options)?.map((item) =>
    checkItem(() => requireText(item, `${name} item`, options), name),
  );
}

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/**
 * The UUID in lower case when the text is one in its canonical form with hyphens, any letter case;
 * `undefined` for braces, `urn:uuid:`, other forms and the nil UUID.
 */
export function canonicalUuid(text: unknown): string | undefined {
  if (typeof text !== "string" || !uuidShape.test(text)) return undefined;
  const uuid = text.toLowerCase();
  return uuid === NIL_UUID ? undefined : uuid;
}

/** A UUID that must be there, in lower case. @throws bad_request */
export function readUuid(fields: Fields, name: string): string {
  const uuid = readOptionalUuid(fields, name);
  if (uuid === undefined) throw badRequest(`${name} is required`, name);
  return uuid;
}

/** A UUID in lower case, or `undefined` when absent. @throws bad_request */
export function readOptionalUuid(fields: Fields, name: string): string | undefined {
  const value = present(fields, name);
  return value === undefined ? undefined : requireUuid(value, name);
}

/** UUIDs in lower case, in order, duplicates kept; `undefined` when absent. @throws bad_request */
export function readUuidList(
  fields: Fields,
  name: string,
  options: { readonly itemsMin?: number; readonly itemsMax?: number } = {},
): string[] | undefined {
  return readList(fields, name, options)?.map((item) => checkItem(() => requireUuid(item, `${name} item`), name));
}

function requireUuid(value: unknown, name: string): string {
  const uuid = canonicalUuid(value);
  if (uuid === undefined) throw badRequest(`${name} must be a UUID`, name);
  return uuid;
}

/** The text of a fault names the item, its `field` the list. */
function checkItem<T>(check: () => T, list: string): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof Error ? badRequest(error.message, list) : error;
  }
}
