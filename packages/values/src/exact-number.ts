import { randomBytes } from "node:crypto";
import { BARE_TOKENS } from "./non-finite.ts";

/** A number as the digits that were sent. `JSON.stringify` writes these digits. An interface, so that the compiler does not take it for an object of JSON. */
export interface ExactNumber {
  readonly rawJSON: string;
}

// TC39 "JSON.parse source text access": Node has it, the compiler's library does not yet.
const json = JSON as unknown as {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
};

/** Returns a number in JSON's notation with its digits. @throws SyntaxError for anything else */
export function keepDigits(digits: string): ExactNumber {
  return json.rawJSON(digits);
}

/** Whether a value of JSON is a number that keeps its digits in an object. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return json.isRawJSON(value);
}

/** Returns an integer as a value of JSON: a plain number up to 2^53, digits beyond; an infinite number beyond double range. */
export function exactInteger(value: bigint): number | ExactNumber {
  const double = Number(value);
  return Number.isSafeInteger(double) || !Number.isFinite(double) ? double : keepDigits(String(value));
}

/** Integers of fewer digits are doubles. */
const longInteger = /^[+-]?\d{16,}$/;

/** Whether decimal digits are an integer that differs from the finite double that represents them. */
export function isRounded(digits: string, double: number): boolean {
  return longInteger.test(digits) && Number.isFinite(double) && BigInt(digits) !== BigInt(double);
}

/** Which numbers keep their digits: integers beyond 2^53, or all whose digits JavaScript would change, such as `1.0`. */
export type KeptNumbers = "long integers" | "every digit";

/** A number that keeps its digits, by the place of these digits in the bytes. */
type Kept = { readonly start: number; readonly end: number; readonly digits: string };

const [QUOTE, BACKSLASH, MINUS, PLUS, POINT, ZERO, NINE, UPPER_E, LOWER_E, UPPER_N, UPPER_I] = [
  ...Buffer.from('"\\-+.09EeNI'),
] as [number, number, number, number, number, number, number, number, number, number, number];

/** A double holds every number with this many digits. */
const SURE_DIGITS = 15;
const integer = /^-?(?:0|[1-9]\d*)$/;
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** A decimal that JavaScript writes with the digits that it was given, if they are few: without an exponent, without a zero at the end. */
const plainDecimal = /^-?(?:[1-9]\d*|0(?=\.0{0,4}[1-9]))\.\d*[1-9]$/;

/** Marks a kept value in the text that JSON.parse reads. No client can know it. */
const mark = randomBytes(18).toString("base64url");

/** Options for parsing a text. */
export type KeepingOptions = {
  /** Called for numbers beyond double range; only `every digit` finds the ones with a point or an exponent. */
  readonly beyondRange?: () => void;
  /** The bare tokens NaN, Infinity and -Infinity are values: symbols, which `nonFiniteOf` reads. */
  readonly bareTokens?: boolean;
  /** JSON around the bytes. */
  readonly before?: string;
  readonly after?: string;
};

/** Deepest nesting that is looked at: deeper than any that is taken. */
const NESTED_MAX = 200;

/**
 * Parses JSON in which some numbers keep their digits (`nothing`: none do): these become `JSON.rawJSON` values, which `JSON.stringify` writes back digit for digit, and cost
 * as much as they are; a reviver would cost as much for every value. Numbers beyond double range arrive as infinite. Values nested more than
 * `NESTED_MAX` deep are left unfinished: the caller refuses them. `bytes` are UTF-8.
 * @throws SyntaxError
 */
export function parseKeeping(
  bytes: Uint8Array,
  which: KeptNumbers | "nothing",
  { beyondRange = () => {}, bareTokens = false, before = "", after = "" }: KeepingOptions = {},
): unknown {
  const sent = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const buffer = bareTokens ? markTokens(sent) : sent;
  const kept = which === "nothing" ? [] : findKept(buffer, which, beyondRange);
  if (kept.length === 0 && buffer === sent) return JSON.parse(before + buffer.toString("utf8") + after);
  const parts: string[] = [before];
  let at = 0;
  for (const [index, { start, end }] of kept.entries()) {
    parts.push(buffer.toString("utf8", at, start), `"${mark}${index}"`);
    at = end;
  }
  parts.push(buffer.toString("utf8", at), after);
  return restore(JSON.parse(parts.join("")), kept, 0);
}

/** Finds the numbers outside of strings that have to be kept. Invalid JSON is left to JSON.parse. */
function findKept(bytes: Buffer, which: KeptNumbers, beyondRange: () => void): Kept[] {
  const kept: Kept[] = [];
  const { length } = bytes;
  let at = 0;
  while (at < length) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = endOfText(bytes, at);
      continue;
    }
    if (byte !== MINUS && (byte < ZERO || byte > NINE)) {
      at += 1;
      continue;
    }
    const start = at;
    let isInteger = true;
    for (at += 1; at < length; at += 1) {
      const next = bytes[at]!;
      if (next >= ZERO && next <= NINE) continue;
      if (next !== POINT && next !== MINUS && next !== PLUS && next !== LOWER_E && next !== UPPER_E) break;
      isInteger = false;
    }
    // The lengths of nearly all numbers show that no digits have to be checked.
    if (isInteger && at - start <= SURE_DIGITS && byte !== MINUS) continue;
    if (!isInteger && which === "long integers") continue;
    const digits = bytes.toString("latin1", start, at);
    if (!number.test(digits)) continue;
    const value = Number(digits);
    if (!Number.isFinite(value)) beyondRange();
    else if (isChanged(digits, value, which)) kept.push({ start, end: at, digits });
  }
  return kept;
}

/**
 * The marks of the bare tokens, as the text between the quotes. They have nine characters, because the engine keeps strings of up to ten only once: longer
 * ones take five times as long in a body that is full of them. A client that guesses one has sent the token.
 */
const tokenMark = randomBytes(6).toString("base64url");
const TOKENS = [...BARE_TOKENS].map(([text, token], i) => ({
  bytes: Buffer.from(text),
  marked: Buffer.from(`"${tokenMark}${i}"`),
  token,
}));
const tokenOfByte = new Map(TOKENS.map(({ bytes }, i) => [bytes[0], i]));
const tokenOfMark = new Map(TOKENS.map(({ token }, i) => [`${tokenMark}${i}`, token]));

/** Returns the bytes with marks in the places of the bare tokens outside of strings; the same bytes without any. One within another word stays no JSON. */
function markTokens(bytes: Buffer): Buffer {
  // The place of each token, and which it is.
  const found: number[] = [];
  let more = 0;
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at]!;
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === UPPER_N || byte === UPPER_I || byte === MINUS) {
      const which = tokenOfByte.get(byte)!;
      const { bytes: text, marked } = TOKENS[which]!;
      if (!isAt(bytes, at, text)) {
        at += 1;
        continue;
      }
      found.push(at, which);
      more += marked.length - text.length;
      at += text.length;
    } else at += 1;
  }
  if (found.length === 0) return bytes;
  const result = Buffer.allocUnsafe(bytes.length + more);
  let [copied, end] = [0, 0];
  const copy = (from: Buffer, start: number, until: number): void => {
    for (let at = start; at < until; at += 1) result[end++] = from[at]!;
  };
  for (let i = 0; i < found.length; i += 2) {
    const { bytes: text, marked } = TOKENS[found[i + 1]!]!;
    copy(bytes, copied, found[i]!);
    copy(marked, 0, marked.length);
    copied = found[i]! + text.length;
  }
  copy(bytes, copied, bytes.length);
  return result;
}

function isAt(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i += 1) if (bytes[at + i] !== text[i]) return false;
  return true;
}

function isChanged(digits: string, value: number, which: KeptNumbers): boolean {
  if (which === "long integers")
    return integer.test(digits) && !Number.isSafeInteger(value) && String(value) !== digits;
  if (digits.length <= SURE_DIGITS && plainDecimal.test(digits)) return false;
  return String(value) !== digits;
}

function endOfText(bytes: Uint8Array, quote: number): number {
  for (let at = quote + 1; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  return bytes.length;
}

/** Puts kept values in the places of their marks. */
function restore(value: unknown, kept: readonly Kept[], depth: number): unknown {
  if (typeof value === "string") return unmarked(value, kept);
  if (typeof value !== "object" || value === null || depth > NESTED_MAX) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      const item: unknown = value[i];
      if (typeof item === "object" || typeof item === "string") value[i] = restore(item, kept, depth + 1);
    }
    return value;
  }
  const object = value as Record<string, unknown>;
  for (const key in object) {
    if (tokenOfMark.has(key) || (kept.length > 0 && key.startsWith(mark)))
      throw new SyntaxError("a number cannot be a key");
    const item = object[key];
    if (typeof item !== "object" && typeof item !== "string") continue;
    const restored = restore(item, kept, depth + 1);
    if (restored !== item) setOwn(object, key, restored);
  }
  return object;
}

/** Sets a property of an object that JSON.parse made, under any name. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function unmarked(text: string, kept: readonly Kept[]): string | ExactNumber | symbol {
  if (kept.length > 0 && text.startsWith(mark)) return keepDigits(kept[Number(text.slice(mark.length))]!.digits);
  return tokenOfMark.get(text) ?? text;
}
