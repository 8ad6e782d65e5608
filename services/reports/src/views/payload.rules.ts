import { readDocument, type ExactJson, type ExactObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { FORBIDDEN_KEYS, VIEW_PAYLOAD_BYTES_MAX, VIEW_VISIBILITIES, type ViewVisibility } from "@tidemark/limits";
import { createHash } from "node:crypto";

/** Deepest nesting of a payload; its own braces are level 1. */
const DEPTH_MAX = 64;

const forbidden: ReadonlySet<string> = new Set(FORBIDDEN_KEYS);

/** Reads the payload of a view; no bytes mean `{}`. Returns it as it is stored: compact JSON. @throws bad_request */
export function readPayload(bytes: Uint8Array): string {
  return writePayload(checkPayload(readDocument(bytes, "payload")));
}

/** @throws bad_request for a payload with keys that reach prototypes, or that is nested too deeply */
export function checkPayload(payload: ExactObject, field = "payload"): ExactObject {
  checkPart(payload, 1, field);
  return payload;
}

/** Writes a checked payload as compact JSON. @throws bad_request when it is too large */
export function writePayload(payload: ExactObject, field = "payload"): string {
  const text = JSON.stringify(payload);
  if (Buffer.byteLength(text) <= VIEW_PAYLOAD_BYTES_MAX) return text;
  throw badRequest(`payload must have at most ${VIEW_PAYLOAD_BYTES_MAX} bytes`, field);
}

function checkPart(part: ExactJson, depth: number, field: string): void {
  if (depth > DEPTH_MAX) throw badRequest(`payload may be nested ${DEPTH_MAX} levels deep`, field);
  if (Array.isArray(part)) {
    for (const item of part as readonly ExactJson[]) checkPart(item, depth + 1, field);
    return;
  }
  if (!isExactObject(part)) return;
  for (const [key, member] of Object.entries(part)) {
    if (forbidden.has(key)) throw badRequest(`the key ${key} is not allowed`, field);
    checkPart(member, depth + 1, field);
  }
}

/** Reads the visibility of a view; an empty text is the default. @throws bad_request */
export function readVisibility(text: string): ViewVisibility {
  const visibility = VIEW_VISIBILITIES.find((known) => known === (text || VIEW_VISIBILITIES[0]));
  if (visibility !== undefined) return visibility;
  throw badRequest(`visibility must be one of ${VIEW_VISIBILITIES.join(", ")}`, "visibility");
}

/** Writes a number; gets its digits in JSON's notation. */
type WriteNumber = (digits: string) => string;

const json = JSON as unknown as { isRawJSON(value: unknown): value is { readonly rawJSON: string } };

/** Returns whether a value is an object, and not a number that keeps its digits. */
export function isExactObject(value: ExactJson): value is ExactObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !json.isRawJSON(value);
}

/** Compares texts by their Unicode code points, as UTF-8 orders them. JavaScript would compare UTF-16 units, and texts in UTF-8 take ten times as long to be compared. */
function byCodePoint(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return rankOf(x) - rankOf(y);
  }
  return a.length - b.length;
}

/** Returns the rank of a UTF-16 unit among all: halves of surrogate pairs rank after all others. */
function rankOf(unit: number): number {
  return unit >= SURROGATES && unit < BEHIND_SURROGATES ? unit + BEHIND_ALL : unit;
}

const SURROGATES = 0xd800;
const BEHIND_SURROGATES = 0xe000;
const BEHIND_ALL = 0x1_0000;

/**
 * Writes a value as the checksum of an exported view takes it (contract of workspace views): compact JSON with keys in the order of their code points
 * at every level. The value is not deeply nested.
 */
export function writeSorted(value: ExactJson, number: WriteNumber = (digits) => digits): string {
  if (typeof value === "number") return number(JSON.stringify(value));
  if (json.isRawJSON(value)) return number(value.rawJSON);
  if (Array.isArray(value))
    return `[${(value as readonly ExactJson[]).map((part) => writeSorted(part, number)).join(",")}]`;
  if (!isExactObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted(byCodePoint)
    .map((key) => `${JSON.stringify(key)}:${writeSorted(value[key]!, number)}`);
  return `{${members.join(",")}}`;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Returns the checksum of a payload: SHA-256 of its sorted JSON in UTF-8, in lower-case hexadecimal digits. */
export function checksumOf(payload: ExactJson): string {
  return sha256(writeSorted(payload));
}

/**
 * Returns whether a checksum matches a payload, with the numbers as they were sent, or as a program writes them that has read the file and writes doubles
 * in their shortest form.
 */
export function hasChecksum(payload: ExactJson, checksum: string): boolean {
  const wanted = checksum.toLowerCase();
  return wanted === checksumOf(payload) || wanted === sha256(writeSorted(payload, shortest));
}

function shortest(digits: string): string {
  return /^-?\d+$/.test(digits) ? digits : JSON.stringify(Number(digits));
}
