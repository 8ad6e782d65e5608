import { badRequest } from "@tidemark/errors";
import { isExactNumber, writeCanonical, type ExactJson, type ExactObject } from "@tidemark/documents";

/** Most bytes of a config or of metadata that a change may leave. */
const CHANGED_DOCUMENT_BYTES_MAX = 4 * 1024 * 1024;

function isObject(value: ExactJson | undefined): value is ExactObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** Applies a merge patch (RFC 7396): members of the patch replace those of the document, objects are merged, null removes. */
export function mergePatch(document: ExactJson | undefined, patch: ExactObject): ExactObject {
  const merged = new Map(isObject(document) ? Object.entries(document) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, isObject(value) ? mergePatch(merged.get(name), value) : value);
  }
  return Object.fromEntries(merged);
}

/** Adds members to a config. @throws bad_request when it has one of them with another value */
export function withAdditions(config: ExactObject, additions: ExactObject): ExactObject {
  for (const [name, value] of Object.entries(additions)) {
    if (!Object.hasOwn(config, name) || writeCanonical(config[name]!) === writeCanonical(value)) continue;
    throw badRequest(`the config has ${JSON.stringify(name)} with another value`, "config");
  }
  return { ...config, ...additions };
}

/** Refuses a document that a change would make too long. @throws bad_request */
export function requireDocumentBytes(text: string, field: "config" | "metadata"): string {
  if (Buffer.byteLength(text) <= CHANGED_DOCUMENT_BYTES_MAX) return text;
  throw badRequest(`${field} must have at most ${CHANGED_DOCUMENT_BYTES_MAX} bytes`, field);
}
