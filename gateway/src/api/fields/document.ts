import { badRequest } from "@tidemark/errors";
import { isExactNumber } from "@tidemark/documents";
import type { Schema } from "../../route.ts";
import { isObject, required, withDefault, type Field } from "./field.ts";
import { WITHOUT_NUL } from "./text.ts";

export type DocumentOptions = {
  /**
   * What happens to NUL and lone surrogates inside text values, which cannot be stored: the request
   * is refused (unless said otherwise), each becomes U+FFFD, or they are kept as escapes, where the text of the document is stored. In keys they are
   * always refused.
   */
  readonly unstorable?: "refuse" | "replace" | "keep";
  /** Most bytes of the JSON text; only the route's body limit when left out. */
  readonly bytesMax?: number;
};

/** The schema of a free-form object. Deeper keys must not hold NUL either, which a schema without a name cannot say. */
const documentSchema: Schema = {
  type: "object",
  additionalProperties: true,
  propertyNames: { pattern: WITHOUT_NUL },
};

/**
 * Describes a free-form object, which is read as compact JSON text in the order in which it was sent.
 * Integers beyond 2^53 keep their digits on routes with `exactNumbers`; numbers beyond double range are refused.
 */
export function freeObject(options: DocumentOptions = {}): Field<string> {
  return required(documentSchema, (value, name) => {
    if (!isObject(value)) throw badRequest(`${name} must be an object`, name);
    return writeDocument(value, name, options);
  });
}

const utf8 = new TextEncoder();

/**
 * Describes an optional document as the services take it: bytes, `{}` when absent. What cannot be stored inside text values is
 * replaced, not refused: clients record file names, which need not be valid text, and these must not keep a training from starting.
 */
export function documentBytes(): Field<Uint8Array> {
  const { check, schema } = freeObject({ unstorable: "replace" });
  return withDefault(
    required(schema, (value, name) => utf8.encode(check(value, name))),
    utf8.encode("{}"),
  );
}

/**
 * Any JSON value as JSON text, checked like a document: for attribute values and the like.
 * @throws bad_request
 */
export function writeDocument(value: unknown, name: string, options: DocumentOptions = {}): string {
  const { unstorable = "refuse" } = options;
  const clean = checkPart(value, name, unstorable) || unstorable === "keep" ? value : replacePart(value);
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
function checkPart(value: unknown, name: string, unstorable: "refuse" | "replace" | "keep"): boolean {
  if (typeof value === "string") {
    if (storable(value)) return true;
    if (unstorable !== "refuse") return false;
    throw badRequest(`${name} must not contain NUL or lone surrogates`, name);
  }
  if (typeof value === "number") {
    if (Number.isFinite(value)) return true;
    throw badRequest(`${name} contains a number out of range`, name);
  }
  if (typeof value !== "object" || value === null || isExactNumber(value)) return true;
  let clean = true;
  if (Array.isArray(value)) {
    for (const part of value) clean = checkPart(part, name, unstorable) && clean;
    return clean;
  }
  for (const [key, part] of Object.entries(value)) {
    if (!storable(key)) throw badRequest(`${name} has a key with NUL or a lone surrogate`, name);
    clean = checkPart(part, name, unstorable) && clean;
  }
  return clean;
}

function replacePart(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("\0", "\uFFFD").toWellFormed();
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
  if (Array.isArray(value)) return value.map(replacePart);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, replacePart(part)]));
}
