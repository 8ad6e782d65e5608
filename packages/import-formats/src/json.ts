import { exactInteger, isExactNumber, isRounded, parseKeeping } from "@tidemark/values";
import type { JsonObject, JsonValue } from "./items.ts";
import type { Warnings } from "./warnings.ts";

/** Maximum nesting depth of lists and objects; deeper values become null. */
export const JSON_DEPTH_MAX = 64;

/** Returns a number as a value: a text where JSON does not have the number. */
export function jsonNumber(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** Returns an integer as a value with all its digits; a text where it is beyond double range. */
export function jsonInteger(value: bigint): JsonValue {
  const number = exactInteger(value);
  return typeof number === "number" ? jsonNumber(number) : number;
}

/** Returns an object of entries. Every key becomes an own member, including `__proto__`. */
export function jsonObject(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  return Object.fromEntries(entries);
}

/** Whether a value is an object, and neither a list nor a number that keeps its digits. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** A possible integer beyond 2^53. These are rare, so a second check looks for them. */
const longDigits = /\d{16}/;

/** A token of Python's JSON; texts are matched so that words in them stay. */
const pythonToken = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\bInfinity\b|\bNaN\b/gs;

/**
 * Reads JSON as Python writes it, which knows the bare words NaN, Infinity and -Infinity; they become texts. Returns undefined if it is not JSON.
 */
export function readPythonJson(text: string): JsonValue | undefined {
  const parsed = parse(() => text) ?? parse(() => text.replace(pythonToken, quoteWord));
  return parsed === undefined ? undefined : boundedJson(parsed.value);
}

function quoteWord(token: string): string {
  return token.startsWith('"') ? token : `"${token}"`;
}

/** Parses a text that may be as large as a record, for which a regular expression may lack the memory. */
function parse(text: () => string): { value: JsonValue } | undefined {
  try {
    const read = text();
    const value: unknown = longDigits.test(read) ? parseKeeping(Buffer.from(read), "long integers") : JSON.parse(read);
    return { value: value as JsonValue };
  } catch {
    return undefined;
  }
}

/** Returns a value without parts that are nested too deep and without numbers that JSON lacks. A `bigint` is an integer with all its digits. */
export function boundedJson(value: JsonValue | bigint, depth = 0): JsonValue {
  if (typeof value === "bigint") return jsonInteger(value);
  if (typeof value === "number") return jsonNumber(value);
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
  if (depth === JSON_DEPTH_MAX) return null;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map((inner) => boundedJson(inner, depth + 1));
  return jsonObject(Object.entries(value).map(([key, inner]) => [key, boundedJson(inner, depth + 1)] as const));
}

/** Returns the number that a value of JSON is, also as one of Python's words; undefined of anything else. Booleans are 0 and 1. */
export function numberOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (isExactNumber(value)) return Number(value.rawJSON);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === "NaN" || value === "Infinity" || value === "-Infinity") return Number(value);
  return undefined;
}

/** The same for a part of a point: where the double is another number than the integer that was written, that is counted. */
export function pointNumberOf(value: JsonValue | undefined, key: string, warnings: Warnings): number | undefined {
  const number = numberOf(value);
  if (isExactNumber(value) && isRounded(value.rawJSON, number!))
    warnings.add("rounded_integer", `${key}: ${value.rawJSON}`);
  return number;
}

/** Returns the numbers of a list, NaN for other items; an empty list if the value is not a list. */
export function numbersOf(value: JsonValue | undefined): number[] {
  return Array.isArray(value) ? value.map((cell: JsonValue) => numberOf(cell) ?? Number.NaN) : [];
}

/** A part of a value that was logged under a key: a number, a text, or an object whose `_type` says what it is. */
export type LoggedPart = { readonly key: string } & (
  | { readonly number: number }
  | { readonly text: string }
  | { readonly type: string; readonly value: JsonObject }
);

/** Yields the parts of a value; keys of nested objects are joined by dots. Values of other kinds are counted; null is skipped. */
export function* loggedParts(key: string, value: JsonValue, warnings: Warnings, depth = 0): Generator<LoggedPart> {
  const number = pointNumberOf(value, key, warnings);
  if (number !== undefined) yield { key, number };
  else if (typeof value === "string") yield { key, text: value };
  else if (!isObject(value)) {
    if (value !== null) warnings.add("unsupported", `${key}: a list`);
  } else if (typeof value["_type"] === "string") yield { key, type: value["_type"], value };
  else if (depth === JSON_DEPTH_MAX) warnings.add("too_large", `${key}: keys are nested too deep`);
  else
    for (const [inner, part] of Object.entries(value)) yield* loggedParts(`${key}.${inner}`, part, warnings, depth + 1);
}
