import { badRequest } from "@tidemark/errors";
import { present, type Fields } from "./present.ts";
import { isRawNumber } from "../../http/json.ts";

export type DocumentOptions = {
  /**
   * What happens to NUL and lone surrogates inside text values, which cannot be stored: the request
   * is refused (unless said otherwise), or each becomes U+FFFD. In keys they are always refused.
   */
  readonly unstorable?: "refuse" | "replace";
  /** Most bytes of the JSON text; only the route's body limit when left out. */
  readonly bytesMax?: number;
};

/** A free-form object as JSON text, `{}` when absent. @throws bad_request */
export function readDocument(fields: Fields, name: string, options: DocumentOptions = {}): string {
  return readOptionalDocument(fields, name, options) ?? "{}";
}

/**
 * A free-form object as compact JSON text in the order it was sent, or `undefined` when absent.
 * Integers beyond 2^53 keep their digits on routes with `exactNumbers`; numbers beyond double range are refused.
 * @throws bad_request
 */
export function readOptionalDocument(fields: Fields, name: string, options: DocumentOptions = {}): string | undefined {
  const value = present(fields, name);
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value) || isRawNumber(value)) {
    throw badRequest(`${name} must be an object`, name);
  }
  return writeDocument(value, name, options);
}

/**
 * Any JSON value as JSON text, checked like a document: for attribute values and the like.
 * @throws bad_request
 */
export function writeDocument(value: unknown, name: string, options: DocumentOptions = {}): string {
  const replace = options.unstorable === "replace";
  const clean = checkPart(value, name, replace) ? value : replacePart(value);
  const text = JSON.stringify(clean);
  if (options.bytesMax !== undefined && Buffer.byteLength(text) > options.bytesMax) {
    throw badRequest(`${name} must have at most ${options.bytesMax} bytes`, name);
  }
  return text;
}

function storable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** True when nothing has to be replaced. The depth is bounded by the body parser. */
function checkPart(value: unknown, name: string, replace: boolean): boolean {
  if (typeof value === "string") {
    if (storable(value)) return true;
    if (replace) return false;
    throw badRequest(`${name} must not contain NUL or lone surrogates`, name);
  }
  if (typeof value === "number") {
    if (Number.isFinite(value)) return true;
    throw badRequest(`${name} contains a number out of range`, name);
  }
  if (typeof value !== "object" || value === null || isRawNumber(value)) return true;
  let clean = true;
  if (Array.isArray(value)) {
    for (const part of value) clean = checkPart(part, name, replace) && clean;
    return clean;
  }
  for (const [key, part] of Object.entries(value)) {
    if (!storable(key)) throw badRequest(`${name} has a key with NUL or a lone surrogate`, name);
    clean = checkPart(part, name, replace) && clean;
  }
  return clean;
}

function replacePart(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("\0", "\uFFFD").toWellFormed();
  if (typeof value !== "object" || value === null || isRawNumber(value)) return value;
  if (Array.isArray(value)) return value.map(replacePart);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, replacePart(part)]));
}
