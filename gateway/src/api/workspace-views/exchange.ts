import type { MessageInitShape } from "@bufbuild/protobuf";
import { IMPORT_STRATEGIES } from "@tidemark/limits";
import type { ExportViewResponse, ImportViewRequestSchema, ImportViewResponse } from "@tidemark/proto/reports/v1/views";
import { raw } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { writeDocument } from "../fields/document.ts";
import { boolean, described, isObject, object, optional, required, type Field } from "../fields/field.ts";
import { instantText } from "../fields/instant.ts";
import { maybeBlankText, text, textInputSchema, uuid, word } from "../fields/text.ts";
import { badRequest } from "@tidemark/errors";
import { objectSchema, textSchema, timeSchema } from "../replies.ts";
import { viewJson } from "./views.ts";

const utf8 = new TextEncoder();
const utf8Text = new TextDecoder();

const envelopeParts = (
  name: Schema,
  project: Schema,
  payload: Schema,
  more: Readonly<Record<string, Schema>>,
): Schema =>
  objectSchema({
    kind: { const: "instantml.workspace_view" },
    schema_version: { const: 1 },
    ...more,
    source: objectSchema({ product: { type: "string", enum: ["tidemark", "instantml"] } }),
    view: objectSchema({ name, project, payload }, ["project"]),
    integrity: objectSchema({
      payload_sha256: {
        type: "string",
        pattern: "^[0-9A-Fa-f]{64}$",
        description: "SHA-256 of the payload as compact JSON, with keys sorted by their code points at every level.",
      },
    }),
  });

/** An exported view as it is sent. The service checks whether it is complete. */
const envelopeSchema = envelopeParts(
  textInputSchema(),
  { anyOf: [textInputSchema({}, "accepted"), { type: "null" }] },
  { type: "object" },
  {},
);

const envelope: Field<Uint8Array> = required(envelopeSchema, (value, name) => {
  if (!isObject(value)) throw badRequest(`${name} must be an object`, name);
  return utf8.encode(writeDocument(value, name, { unstorable: "keep" }));
});

/** Body of POST /api/workspace-views/import. */
export const importViewBody = object({
  exported_view: envelope,
  dry_run: described(boolean(), "Returns what would be done, and does nothing."),
  conflict_strategy: optional(word(IMPORT_STRATEGIES)),
  existing_view_id: described(optional(uuid()), "With `replace`: which view."),
  expected_updated_at: described(
    optional(instantText),
    "With `replace`: `updated_at` of that view as the client knows it.",
  ),
  name: described(optional(text()), "In place of the name in the file."),
  project: described(optional(maybeBlankText()), "In place of the project in the file; blank: none."),
});

/** POST /api/workspace-views/import. @throws bad_request */
export function decodeImportView({ body }: RouteInput): MessageInitShape<typeof ImportViewRequestSchema> {
  const { exportedView: exportedJson, ...same } = importViewBody.read(body);
  return { exportedJson, ...same };
}

/** `{dry_run, action, name, project, payload_bytes, warnings, workspace_view}` */
export function encodeImportView(response: ImportViewResponse): RouteReply {
  const { dryRun, action, name, project, payloadBytes, warnings, view } = response;
  return {
    body: {
      dry_run: dryRun,
      action,
      name,
      project: project ?? null,
      payload_bytes: payloadBytes,
      warnings,
      workspace_view: view === undefined ? null : viewJson(view),
    },
  };
}

/** An exported view as it is answered. */
export const exportedViewSchema: Schema = envelopeParts(
  textSchema,
  { type: ["string", "null"] },
  { type: "object" },
  { exported_at: timeSchema },
);

const SLUG_LENGTH_MAX = 80;

/** The view as a file, which neither our pages nor other sites embed. */
export function encodeExportView({ exportedJson, name }: ExportViewResponse): RouteReply {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "-")
    .slice(0, SLUG_LENGTH_MAX);
  return {
    body: raw(utf8Text.decode(exportedJson)),
    headers: {
      "content-disposition": `attachment; filename="${slug}.instantml-view.json"`,
      "cache-control": "private, no-store",
      pragma: "no-cache",
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox",
      "cross-origin-resource-policy": "same-origin",
    },
  };
}
