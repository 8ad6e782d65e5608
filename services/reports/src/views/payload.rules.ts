import { readDocument, type ExactJson, type ExactObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { FORBIDDEN_KEYS, VIEW_PAYLOAD_BYTES_MAX, VIEW_VISIBILITIES, type ViewVisibility } from "@tidemark/limits";
import { isExactObject } from "./canonical.rules.ts";

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
