import { isUtf8 } from "node:buffer";
import { badRequest } from "@tidemark/errors";
import type { Query } from "../route.ts";
import { isRawNumber, rawNumber } from "./json.ts";

/** Deepest nesting of a body; its own braces are level 1. */
export const DEPTH_MAX = 64;

/** Sixteen digits at the start of an integer: shorter ones are not beyond 2^53. Decimals do not match. */
const longInteger = /(?<![\d.])\d{16}/;
const integer = /^-?\d+$/;

/** Which numbers of a body keep their digits: none, integers beyond 2^53, or all whose digits JavaScript would change, such as `1.0`. */
export type ExactNumbers = boolean | "every digit";

/**
 * Parses a JSON body. Numbers that keep their digits become `JSON.rawJSON` values, which
 * `JSON.stringify` writes back digit for digit. Numbers beyond double range arrive as infinite.
 * @throws bad_request for invalid UTF-8 or JSON, anything except an object, nesting above 64, and keys
 * that could reach an object's prototype (`__proto__`, `constructor` with `prototype`)
 */
export function parseJsonObject(bytes: Buffer, exactNumbers: ExactNumbers): Readonly<Record<string, unknown>> {
  const value = parse(bytes, exactNumbers);
  if (!isNested(value) || Array.isArray(value)) throw badRequest("the body must be a JSON object");
  checkShape(value, 1);
  return value as Record<string, unknown>;
}

function parse(bytes: Buffer, exactNumbers: ExactNumbers): unknown {
  if (!isUtf8(bytes)) throw badRequest("the body is not valid UTF-8");
  const text = bytes.toString("utf8");
  try {
    if (exactNumbers === "every digit") return JSON.parse(text, keepEveryDigit);
    return exactNumbers && longInteger.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch (cause) {
    // The engine's message quotes the body, which may hold anything.
    throw cause instanceof SyntaxError ? badRequest("the body is not valid JSON") : cause;
  }
}

function keepDigits(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value) || !Number.isFinite(value)) return value;
  const source = context?.source;
  return source !== undefined && integer.test(source) && source !== String(value) ? rawNumber(source) : value;
}

function checkShape(value: object, depth: number): void {
  if (depth > DEPTH_MAX) throw badRequest(`the body is nested deeper than ${DEPTH_MAX} levels`);
  if (Array.isArray(value)) {
    for (const part of value as readonly unknown[]) if (isNested(part)) checkShape(part, depth + 1);
    return;
  }
  // Objects of JSON.parse inherit nothing enumerable, so this visits exactly the keys that were sent.
  for (const key in value) {
    const part = (value as Readonly<Record<string, unknown>>)[key];
    if (key === "__proto__" || (key === "constructor" && isNested(part) && Object.hasOwn(part, "prototype"))) {
      throw badRequest(`the key ${key} is not allowed`);
    }
    if (isNested(part)) checkShape(part, depth + 1);
  }
}

function keepEveryDigit(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || !Number.isFinite(value)) return value;
  const source = context?.source;
  return source === undefined || source === String(value) ? value : rawNumber(source);
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isRawNumber(value);
}

const empty: Query = Object.freeze(Object.create(null) as Record<string, string>);

/**
 * Reads a query string (`application/x-www-form-urlencoded`). Parameters without a value, or with
 * only white space, count as absent; those in `neverBlank` are refused.
 * @throws bad_request for a repeated parameter, an invalid escape, invalid UTF-8, or NUL
 */
export function parseQuery(text: string, neverBlank: readonly string[] = []): Query {
  if (text === "") return empty;
  const query = Object.create(null) as Record<string, string>;
  const seen = new Set<string>();
  for (const part of text.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = unescape(equals === -1 ? part : part.slice(0, equals), part);
    const value = equals === -1 ? "" : unescape(part.slice(equals + 1), name);
    if (seen.has(name)) throw badRequest(`the parameter ${name} is given twice`, name);
    seen.add(name);
    if (value.trim() !== "") query[name] = value;
    else if (neverBlank.includes(name)) throw badRequest(`the parameter ${name} must not be blank`, name);
  }
  return query;
}

function unescape(text: string, name: string): string {
  try {
    const plain = decodeURIComponent(text.replaceAll("+", " "));
    if (!plain.includes("\0")) return plain;
  } catch {
    // Thrown below.
  }
  throw badRequest(`the parameter ${name.slice(0, 100)} has an invalid escape`);
}
