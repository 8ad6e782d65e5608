import { isUtf8 } from "node:buffer";
import { badRequest } from "@tidemark/errors";

// TC39 "JSON.parse source text access": Node has it, the compiler's library does not yet.
const json = JSON as unknown as { rawJSON(text: string): object; isRawJSON(value: unknown): boolean };

/** Deepest nesting of a body; its own braces are level 1. */
export const BODY_DEPTH_MAX = 64;

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
  return source !== undefined && integer.test(source) && source !== String(value) ? json.rawJSON(source) : value;
}

function checkShape(value: object, depth: number): void {
  if (depth > BODY_DEPTH_MAX) throw badRequest(`the body is nested deeper than ${BODY_DEPTH_MAX} levels`);
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
  return source === undefined || source === String(value) ? value : json.rawJSON(source);
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null && !json.isRawJSON(value);
}
