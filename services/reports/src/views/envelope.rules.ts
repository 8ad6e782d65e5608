import { readDocument, type ExactJson, type ExactObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { requireText, textOrNull } from "../fields/text.rules.ts";
import { checksumOf, hasChecksum, isExactObject, writeSorted } from "./canonical.rules.ts";
import { checkPayload, writePayload } from "./payload.rules.ts";
import { sanitize } from "./sanitize.rules.ts";

/** Files of the public product have this kind, too, and are to be imported. */
const KIND = "instantml.workspace_view";
const FORMAT = "workspace_view";
const PRODUCT = "tidemark";
const PRODUCTS: ReadonlySet<unknown> = new Set([PRODUCT, "instantml"]);
const FIELD = "exported_view";

/** A view that leaves the product. `payload` is a JSON text. */
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

/** A view that comes from a file, with its payload sanitized. `payload` is a JSON text as it is stored. */
export type ReadView = ExportedView & { readonly warnings: readonly string[] };

/** Reads such a file. The checksum is that of the payload as it was sent; then the payload is sanitized. @throws bad_request */
export function readEnvelope(bytes: Uint8Array): ReadView {
  const envelope = readDocument(bytes, FIELD);
  if (envelope["kind"] !== KIND) throw badRequest(`${FIELD}.kind must be ${KIND}`, FIELD);
  if (Number(digitsOf(envelope["schema_version"])) !== 1) throw badRequest(`${FIELD}.schema_version must be 1`, FIELD);
  const product = member(envelope, "source")["product"];
  if (!PRODUCTS.has(product)) throw badRequest(`${FIELD}.source.product must be ${[...PRODUCTS].join(" or ")}`, FIELD);
  const view = member(envelope, "view");
  const checksum = member(envelope, "integrity")["payload_sha256"];
  const payload = checkPayload(member(view, "payload", "view."));
  if (typeof checksum !== "string" || !hasChecksum(payload, checksum)) {
    throw badRequest(`${FIELD}.integrity.payload_sha256 is not the checksum of the payload`, FIELD);
  }
  const { value, warnings } = sanitize(payload);
  return {
    name: requireText(textIn(view, "name")?.trim() ?? "", FIELD),
    project: textOrNull(textIn(view, "project")?.trim(), FIELD),
    payload: writePayload(value),
    warnings,
  };
}

function member(object: ExactObject, name: string, path = ""): ExactObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  if (value !== undefined && isExactObject(value)) return value;
  throw badRequest(`${FIELD}.${path}${name} must be an object`, FIELD);
}

function textIn(object: ExactObject, name: string): string | undefined {
  const value = object[name] ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw badRequest(`${FIELD}.view.${name} must be a text`, FIELD);
}

/** Returns the digits of a number; `NaN` for every other value. */
function digitsOf(value: ExactJson | undefined): string {
  const text = JSON.stringify(value) as string | undefined;
  return typeof value === "string" || text === undefined || !/^-?\d/.test(text) ? "NaN" : text;
}
