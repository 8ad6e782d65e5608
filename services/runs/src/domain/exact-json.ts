import { badRequest, isAppError } from "@tidemark/errors";

/** A number as the digits that were sent. `JSON.stringify` writes it as they are. */
export type ExactNumber = { readonly rawJSON: string };

/** A JSON value whose numbers kept their digits. */
export type ExactJson = null | boolean | string | ExactNumber | readonly ExactJson[] | ExactObject;

/** A free-form document: a JSON object whose numbers kept their digits. */
export type ExactObject = { readonly [key: string]: ExactJson };

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

// TC39 "JSON.parse source text access": in Node, but not in the compiler's library yet.
const json = JSON as unknown as {
  parse(text: string, reviver: Reviver): ExactJson;
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
};

/** A finite number as a JSON value. */
export function exactNumber(value: number): ExactNumber {
  return json.rawJSON(JSON.stringify(value));
}

/** Deepest nesting of a document; deeper ones could not be walked on every machine. */
export const DOCUMENT_DEPTH_MAX = 128;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads a document from UTF-8 JSON; no bytes at all mean `{}`. Integers beyond 2^53, `1.0` and `-0`
 * come out as they went in. Of a repeated key the last one counts.
 * @throws bad_request when the bytes are no JSON object, or a number in it is beyond double range
 */
export function readDocument(bytes: Uint8Array, field: string): ExactObject {
  if (bytes.length === 0) return {};
  const value = parse(bytes, field);
  if (typeof value !== "object" || value === null || Array.isArray(value) || json.isRawJSON(value)) {
    throw badRequest(`${field} must be an object`, field);
  }
  return value as ExactObject;
}

function parse(bytes: Uint8Array, field: string): ExactJson {
  let value: ExactJson;
  try {
    value = readJson(utf8.decode(bytes), () => {
      throw badRequest(`${field} contains a number out of range`, field);
    });
  } catch (error) {
    throw isAppError(error) ? error : badRequest(`${field} must be JSON`, field);
  }
  return value;
}

/** Reads any JSON value. `beyondRange` is called for a number that no double can hold. @throws SyntaxError */
export function readJson(text: string, beyondRange: () => void = () => {}): ExactJson {
  const keep: Reviver = (_key, value, { source }) => {
    if (typeof value !== "number") return value;
    if (!Number.isFinite(value)) beyondRange();
    return json.rawJSON(source ?? String(value));
  };
  return json.parse(text, keep);
}

/**
 * Writes a value as compact JSON: keys sorted by UTF-16 code units (as RFC 8785 does), numbers with
 * their own digits, or as `number` says.
 * @throws bad_request when it is nested deeper than `DOCUMENT_DEPTH_MAX`
 */
export function writeCanonical(value: ExactJson, number: (digits: string) => string = (digits) => digits): string {
  const write = (part: ExactJson, depth: number): string => {
    if (depth > DOCUMENT_DEPTH_MAX) throw badRequest(`documents may be nested ${DOCUMENT_DEPTH_MAX} levels deep`);
    if (part === null || typeof part !== "object") return JSON.stringify(part);
    if (json.isRawJSON(part)) return number(part.rawJSON);
    if (Array.isArray(part)) return `[${(part as ExactJson[]).map((item) => write(item, depth + 1)).join(",")}]`;
    const object = part as ExactObject;
    const members = Object.keys(object)
      .toSorted()
      .map((key) => `${JSON.stringify(key)}:${write(object[key] as ExactJson, depth + 1)}`);
    return `{${members.join(",")}}`;
  };
  return write(value, 0);
}
