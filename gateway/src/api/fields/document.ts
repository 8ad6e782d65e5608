import { badRequest, type AppError } from "@tidemark/errors";
import { isExactNumber, writeInSteps, type ExactJson } from "@tidemark/documents";
import { textOfToken } from "@tidemark/values";
import type { Schema } from "../../route.ts";
import { isObject, required, withDefault, type Field, type Fields } from "./field.ts";
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
 * Integers beyond 2^53 keep their digits on routes with `exactNumbers`; numbers beyond double range are refused, and bare tokens become texts.
 */
export function freeObject(options: DocumentOptions = {}): Field<string> {
  return required(documentSchema, (value, name) => writeDocument(requireObject(value, name), name, options));
}

function requireObject(value: unknown, name: string): Fields {
  if (!isObject(value)) throw badRequest(`${name} must be an object`, name);
  return value;
}

const utf8 = new TextEncoder();
const noMembers = utf8.encode("{}");

/**
 * Describes an optional document as the services take it: bytes, `{}` when absent. What cannot be stored inside text values is
 * replaced, not refused: clients record file names, which need not be valid text, and these must not keep a training from starting.
 */
export function documentBytes(): Field<Uint8Array> {
  const { check, schema } = freeObject({ unstorable: "replace" });
  return withDefault(
    required(schema, (value, name) => utf8.encode(check(value, name))),
    noMembers,
  );
}

/** Reads as `documentBytes` does, and pauses where others may work. @throws bad_request */
export function* documentBytesSteps(sent: unknown, name: string): Generator<void, Uint8Array> {
  if (sent === undefined) return noMembers;
  return utf8.encode(yield* documentSteps(requireObject(sent, name), name, { unstorable: "replace" }));
}

/**
 * Any JSON value as JSON text, checked like a document: for attribute values and the like.
 * @throws bad_request
 */
export function writeDocument(value: unknown, name: string, options: DocumentOptions = {}): string {
  refuseHuge(value, name, options);
  return bounded(writePart(value, name, options), name, options);
}

/** Writes as `writeDocument` does, and pauses where others may work. @throws bad_request */
export function* documentSteps(value: unknown, name: string, options: DocumentOptions = {}): Generator<void, string> {
  refuseHuge(value, name, options);
  const text = yield* writeInSteps(value as ExactJson, {
    keys: (object) => {
      const keys = Object.keys(object);
      for (const key of keys) requireKey(key, name);
      return keys;
    },
    part: (part) => writePart(part, name, options),
  });
  return bounded(text, name, options);
}

function writePart(value: unknown, name: string, { unstorable = "refuse" }: DocumentOptions): string {
  return JSON.stringify(checkPart(value, name, unstorable) ? value : replacePart(value, unstorable));
}

/** @throws bad_request */
function bounded(text: string, name: string, { bytesMax }: DocumentOptions): string {
  if (bytesMax !== undefined && Buffer.byteLength(text) > bytesMax) throw tooLarge(name, bytesMax);
  return text;
}

/** Refuses what is certain to be too large before any time is spent on checking and writing it. @throws bad_request */
function refuseHuge(value: unknown, name: string, { bytesMax }: DocumentOptions): void {
  if (bytesMax !== undefined && leastBytes(value, bytesMax) > bytesMax) throw tooLarge(name, bytesMax);
}

function tooLarge(name: string, bytesMax: number): AppError {
  return badRequest(`${name} must have at most ${bytesMax} bytes`, name);
}

/** Returns how many bytes a value has as JSON at least, or some number above `bytesMax`; looks no further than that. */
export function leastBytes(value: unknown, bytesMax: number): number {
  if (typeof value === "string") return 2 + value.length;
  if (typeof value !== "object" || value === null || isExactNumber(value)) return 1;
  let bytes = 1;
  if (Array.isArray(value)) {
    for (const part of value as readonly unknown[]) {
      bytes += 1 + leastBytes(part, bytesMax - bytes);
      if (bytes > bytesMax) break;
    }
    return bytes;
  }
  for (const key in value) {
    bytes += 4 + key.length + leastBytes((value as Readonly<Record<string, unknown>>)[key], bytesMax - bytes);
    if (bytes > bytesMax) break;
  }
  return bytes;
}

function storable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** @throws bad_request */
function requireKey(key: string, name: string): void {
  if (!storable(key)) throw badRequest(`${name} has a key with NUL or a lone surrogate`, name);
}

/** True when nothing has to be replaced. The depth is bounded by the body parser. */
function checkPart(value: unknown, name: string, unstorable: "refuse" | "replace" | "keep"): boolean {
  if (typeof value === "string") {
    if (unstorable === "keep" || storable(value)) return true;
    if (unstorable === "replace") return false;
    throw badRequest(`${name} must not contain NUL or lone surrogates`, name);
  }
  if (typeof value === "number") {
    if (Number.isFinite(value)) return true;
    throw badRequest(`${name} contains a number out of range`, name);
  }
  if (typeof value === "symbol") return false;
  if (typeof value !== "object" || value === null || isExactNumber(value)) return true;
  let clean = true;
  if (Array.isArray(value)) {
    for (const part of value) clean = checkPart(part, name, unstorable) && clean;
    return clean;
  }
  for (const [key, part] of Object.entries(value)) {
    requireKey(key, name);
    clean = checkPart(part, name, unstorable) && clean;
  }
  return clean;
}

function replacePart(value: unknown, unstorable: "refuse" | "replace" | "keep"): unknown {
  if (typeof value === "symbol") return textOfToken(value);
  if (typeof value === "string")
    return unstorable === "replace" ? value.replaceAll("\0", "\uFFFD").toWellFormed() : value;
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
  if (Array.isArray(value)) return value.map((part) => replacePart(part, unstorable));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, replacePart(part, unstorable)]));
}
