import { isExactNumber, parseExact, writeCanonical, type ExactJson, type ExactObject } from "@tidemark/documents";

const utf8 = new TextDecoder();

/** Returns the document in a message. */
export function documentOf(json: Uint8Array): ExactObject {
  return json.length === 0 ? {} : (parseExact(utf8.decode(json)) as ExactObject);
}

/** Returns a value as MLflow has it: texts as they are, others as JSON with their digits. */
export function textOf(value: ExactJson): string {
  return typeof value === "string" ? value : writeCanonical(value);
}

/** Returns an object inside a document; an empty one where something else is there. */
export function memberObject(document: ExactObject, name: string): ExactObject {
  const value = Object.hasOwn(document, name) ? document[name]! : {};
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
  return isObject ? (value as ExactObject) : {};
}

/** Returns a value as bytes of JSON. */
export function jsonBytes(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Returns a list of keys and values. */
export function pairs(entries: Iterable<readonly [string, string]>): { key: string; value: string }[] {
  return Array.from(entries, ([key, value]) => ({ key, value }));
}
