import { readDocument, readDocumentInTurns, type ExactJson, type ExactObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import { checksumOf, hasChecksum, isExactObject, writeSorted, checkPayload, writePayload } from "./payload.rules.ts";
import { sanitize } from "./sanitize.rules.ts";

/** Files of the public product have this kind too, and must be importable. */
const KIND = "instantml.workspace_view";
const FORMAT = "workspace_view";
const PRODUCT = "tidemark";
const PRODUCTS: ReadonlySet<unknown> = new Set([PRODUCT, "instantml"]);
const FIELD = "exported_view";

/** A view that is exported. `payload` is a JSON text. */
export type ExportedView = { readonly name: string; readonly project: string | null; readonly payload: string };

/** Writes a view as a file for people and other installations: without secrets, with a checksum of the payload. Its payload has sorted keys. */
export function writeEnvelope({ name, project, payload }: ExportedView, exportedAt: string): string {
  const { value } = sanitize(readDocument(Buffer.from(payload), "payload"));
  const head = JSON.stringify({
    kind: KIND,
    schema_version: 1,
    exported_at: exportedAt,
    source: { product: PRODUCT, format: FORMAT },
  });
  const view = `{"name":${JSON.stringify(name)},"project":${JSON.stringify(project)},"payload":${writeSorted(value)}}`;
  return `${head.slice(0, -1)},"view":${view},"integrity":{"payload_sha256":"${checksumOf(value)}"}}`;
}

/** A view that was read from a file, with its payload sanitized. `payload` is a JSON text as it is stored. */
export type ReadView = ExportedView & { readonly warnings: readonly string[] };

/** Reads such a file. The checksum is that of the payload as it was sent; then the payload is sanitized. @throws bad_request */
export function readEnvelope(bytes: Uint8Array): ReadView {
  return openEnvelope(readDocument(bytes, FIELD), FIELD);
}

/**
 * Reads a view as clients show it (contract of view data): such a file, an object with a payload, or a payload. The payload is sanitized.
 * @throws bad_request on the field `view`
 */
export async function readGivenView(bytes: Uint8Array): Promise<Pick<ReadView, "payload" | "warnings">> {
  const field = "view";
  const given = await readDocumentInTurns(bytes, field);
  if (Object.hasOwn(given, "kind") || Object.hasOwn(given, "integrity")) return openEnvelope(given, field);
  const payload = memberOf(given, "payload");
  const { value, warnings } = sanitize(checkPayload(payload ?? given, field));
  return { payload: writePayload(value, field), warnings };
}

function openEnvelope(envelope: ExactObject, field: string): ReadView {
  const member = (object: ExactObject, name: string, path = ""): ExactObject => {
    const value = memberOf(object, name);
    if (value === undefined) throw badRequest(`${field}.${path}${name} must be an object`, field);
    return value;
  };
  if (envelope["kind"] !== KIND) throw badRequest(`${field}.kind must be ${KIND}`, field);
  if (Number(digitsOf(envelope["schema_version"])) !== 1) throw badRequest(`${field}.schema_version must be 1`, field);
  const product = member(envelope, "source")["product"];
  if (!PRODUCTS.has(product)) throw badRequest(`${field}.source.product must be ${[...PRODUCTS].join(" or ")}`, field);
  const view = member(envelope, "view");
  const checksum = member(envelope, "integrity")["payload_sha256"];
  const payload = checkPayload(member(view, "payload", "view."));
  if (typeof checksum !== "string" || !hasChecksum(payload, checksum)) {
    throw badRequest(`${field}.integrity.payload_sha256 is not the checksum of the payload`, field);
  }
  const { value, warnings } = sanitize(payload);
  return {
    name: requireText(textIn(view, "name", field)?.trim() ?? "", field),
    project: textOrNull(textIn(view, "project", field)?.trim(), field),
    payload: writePayload(value),
    warnings,
  };
}

function memberOf(object: ExactObject, name: string): ExactObject | undefined {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return value !== undefined && isExactObject(value) ? value : undefined;
}

function textIn(object: ExactObject, name: string, field: string): string | undefined {
  const value = object[name] ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw badRequest(`${field}.view.${name} must be a text`, field);
}

/** Returns the digits of a number; `NaN` for every other value. */
function digitsOf(value: ExactJson | undefined): string {
  const text = JSON.stringify(value) as string | undefined;
  return typeof value === "string" || text === undefined || !/^-?\d/.test(text) ? "NaN" : text;
}
