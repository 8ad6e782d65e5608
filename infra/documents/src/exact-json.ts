import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { badRequest, isAppError } from "@tidemark/errors";
import { isExactNumber, keepDigits, parseKeeping, type ExactNumber } from "@tidemark/values";

/** A JSON value whose numbers keep their digits: a plain number is one that `JSON.stringify` writes with them. */
export type ExactJson = null | boolean | string | number | ExactNumber | readonly ExactJson[] | ExactObject;

/** A free-form document: a JSON object whose numbers keep their digits. */
export type ExactObject = { readonly [key: string]: ExactJson };

/** Returns a finite number as a JSON value. */
export function exactNumber(value: number): ExactNumber {
  return keepDigits(JSON.stringify(value));
}

/** Deepest nesting of a document; a walk of a deeper one could exhaust the stack. */
export const DOCUMENT_DEPTH_MAX = 128;

/**
 * Reads a document from UTF-8 JSON; no bytes mean `{}`. Integers beyond 2^53, `1.0` and `-0` keep
 * their digits. The last value of a repeated key counts.
 * @throws bad_request when the bytes are not a JSON object, or a number in it is beyond double range
 */
export function readDocument(bytes: Uint8Array, field: string): ExactObject {
  if (bytes.length === 0) return {};
  const value = readExactJson(bytes, field);
  if (typeof value !== "object" || value === null || Array.isArray(value) || isExactNumber(value)) {
    throw badRequest(`${field} must be an object`, field);
  }
  return value as ExactObject;
}

/** Reads any value from UTF-8 JSON, as `readDocument` reads an object. @throws bad_request */
export function readExactJson(bytes: Uint8Array, field: string): ExactJson {
  try {
    if (!isUtf8(bytes)) throw badRequest(`${field} must be JSON`, field);
    return parseKeeping(bytes, "every digit", {
      beyondRange: () => {
        throw badRequest(`${field} contains a number out of range`, field);
      },
    }) as ExactJson;
  } catch (error) {
    throw isAppError(error) ? error : badRequest(`${field} must be JSON`, field);
  }
}

/**
 * Reads any JSON value. Integers beyond 2^53, `1.0` and `-0` keep their digits.
 * @throws SyntaxError
 */
export function parseExact(text: string): ExactJson {
  return parseKeeping(Buffer.from(text), "every digit") as ExactJson;
}

/**
 * Writes a value as compact JSON: keys sorted by UTF-16 code units (as RFC 8785 does), numbers with
 * their own digits, or as `number` writes them. The value is `valueDepth` levels down in a document.
 * @throws bad_request when the document is nested deeper than `DOCUMENT_DEPTH_MAX`
 */
export function writeCanonical(
  value: ExactJson,
  number: (digits: string) => string = (digits) => digits,
  valueDepth = 0,
): string {
  const write = (part: ExactJson, depth: number): string => {
    requireDepth(depth);
    if (typeof part === "number") return number(JSON.stringify(part));
    if (part === null || typeof part !== "object") return JSON.stringify(part);
    if (Array.isArray(part)) return `[${writeItems(part as readonly ExactJson[], (item) => write(item, depth + 1))}]`;
    if (isExactNumber(part)) return number(part.rawJSON);
    const object = part as ExactObject;
    let members = "";
    for (const key of sortedKeys(object)) {
      members += `${members === "" ? "" : ","}${quote(key)}:${write(object[key] as ExactJson, depth + 1)}`;
    }
    return `{${members}}`;
  };
  return write(value, valueDepth);
}

/** Items whose text is joined at a time: a text that grows item by item takes 60 bytes of memory for each until it is read. */
const JOINED_TOGETHER = 1000;

function writeItems(items: readonly ExactJson[], write: (item: ExactJson) => string): string {
  if (items.length <= JOINED_TOGETHER) {
    let text = "";
    for (const item of items) text += `${text === "" ? "" : ","}${write(item)}`;
    return text;
  }
  const texts: string[] = [];
  for (let from = 0; from < items.length; from += JOINED_TOGETHER) {
    texts.push(
      items
        .slice(from, from + JOINED_TOGETHER)
        .map(write)
        .join(","),
    );
  }
  return texts.join(",");
}

/** Refuses a value that is nested too deep in its document. @throws bad_request */
export function requireDepth(depth: number): void {
  if (depth > DOCUMENT_DEPTH_MAX) throw badRequest(`documents may be nested ${DOCUMENT_DEPTH_MAX} levels deep`);
}

const quoted = new Map<string, string>();

/** Returns a key as JSON. Keys are remembered, because nearly all repeat. */
export function quote(key: string): string {
  let text = quoted.get(key);
  if (text === undefined) {
    text = JSON.stringify(key);
    if (quoted.size < QUOTED_MAX && key.length <= QUOTED_LENGTH_MAX) quoted.set(key, text);
  }
  return text;
}
const QUOTED_MAX = 2000;
const QUOTED_LENGTH_MAX = 64;

let sentKeys: readonly string[] = [];
let orderedKeys: readonly string[] = [];

/** Sorts the keys of an object. The items of a list have the same keys, so they are compared with those of the object before. */
export function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object);
  let same = keys.length === sentKeys.length;
  for (let i = 0; same && i < keys.length; i++) same = keys[i] === sentKeys[i];
  if (same) return orderedKeys;
  const ordered = keys.toSorted();
  if (keys.length <= REMEMBERED_KEYS_MAX) {
    sentKeys = keys;
    orderedKeys = ordered;
  }
  return ordered;
}
const REMEMBERED_KEYS_MAX = 64;

/**
 * Returns one text for all notations of a number: `1`, `1.0` and `10e-1` give the same text, and so
 * do `-0` and `0`. Numbers that differ in any digit give different texts, even if they are the same double.
 * `number` is in JSON's notation.
 */
export function exactDecimal(number: string): string {
  const negative = number.startsWith("-");
  const [mantissa = "", exponent = "0"] = number.slice(negative ? 1 : 0).split(/[eE]/);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = whole + fraction;
  // Loops, because a regular expression for trailing zeros takes quadratic time on hostile digits.
  let first = 0;
  while (digits[first] === "0") first += 1;
  if (first === digits.length) return "0";
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  const power = Number(exponent) - fraction.length + (digits.length - end);
  return `${negative ? "-" : ""}${digits.slice(first, end)}e${power}`;
}

/**
 * Returns a function that reports whether a JSON text is the same value as `json`, which is parsed at most once: white space and the order of keys do not
 * matter, and numbers are equal when their decimal values are equal.
 */
export function sameJsonAs(json: string): (other: string) => boolean {
  let comparable: string | undefined;
  return (other) => {
    if (other === json) return true;
    // Most values that differ are plain, so no parsing is needed.
    if (isPlain(json) && isPlain(other)) return false;
    comparable ??= writeComparable(parseExact(json));
    return writeComparable(parseExact(other)) === comparable;
  };
}

/** Whether only one JSON text has this value: a text without escapes, or a word. */
function isPlain(json: string): boolean {
  const first = json[0];
  if (first === '"') return !json.includes("\\") && json.endsWith('"');
  return json === "true" || json === "false" || json === "null";
}

/**
 * Returns 32 bytes that are equal for values that `sameJsonAs` considers the same.
 * @throws bad_request when the value is nested deeper than `DOCUMENT_DEPTH_MAX`
 */
export function fingerprintOf(value: ExactJson): Uint8Array {
  return createHash("sha256").update(writeComparable(value)).digest();
}

/** Writes equal values alike. */
function writeComparable(value: ExactJson): string {
  return writeCanonical(value, exactDecimal);
}
