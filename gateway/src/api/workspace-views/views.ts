import type { MessageInitShape } from "@bufbuild/protobuf";
import { FORBIDDEN_KEYS, VIEWS_PAGE_ROWS, VIEW_PAYLOAD_BYTES_MAX, VIEW_VISIBILITIES } from "@tidemark/limits";
import type {
  CreateViewRequestSchema,
  DeleteViewRequestSchema,
  DeleteViewResponse,
  ListViewsRequestSchema,
  ListViewsResponse,
  UpdateViewRequestSchema,
  View,
  ViewSummary,
} from "@tidemark/proto/reports/v1/views";
import { raw, type Json } from "../../http/json.ts";
import type { RouteInput, RouteReply } from "../../route.ts";
import { freeObject } from "../fields/document.ts";
import { described, object, optional, required, withFault, type Field } from "../fields/field.ts";
import { instantText } from "../fields/instant.ts";
import { limit } from "../fields/number.ts";
import { maybeBlankText, queryText, text, textOrAbsent, word } from "../fields/text.ts";
import {
  booleanSchema,
  objectSchema,
  requireMessage,
  textOrNullSchema,
  textSchema,
  timeOrNullSchema,
  timeSchema,
  uuidSchema,
} from "../replies.ts";

const utf8 = new TextEncoder();
const utf8Text = new TextDecoder();
const freePayload = freeObject({ unstorable: "keep" });

/** The payload of a view, which is read as JSON. The service checks its size and its keys. */
const payload: Field<Uint8Array> = described(
  required(freePayload.schema, (value, name) => utf8.encode(freePayload.check(value, name))),
  `At most ${VIEW_PAYLOAD_BYTES_MAX} bytes of JSON, without the keys ${FORBIDDEN_KEYS.join(", ")} at any depth.`,
  { propertyNames: { pattern: "^[^\\u0000]*$", not: { enum: FORBIDDEN_KEYS } } },
);

const visibility = optional(word(VIEW_VISIBILITIES));

/** Body of POST /api/workspace-views. */
export const createViewBody = object({
  name: text(),
  project: textOrAbsent(),
  payload: optional(payload),
  visibility: described(
    visibility,
    "`private`, the default: the user; `organization`: its members read the view as it is, with its payload.",
  ),
});

/** POST /api/workspace-views. @throws bad_request */
export function decodeCreateView({ body }: RouteInput): MessageInitShape<typeof CreateViewRequestSchema> {
  const { payload: payloadJson, ...view } = createViewBody.read(body);
  return { ...view, ...(payloadJson === undefined ? {} : { payloadJson }) };
}

/** Body of PUT /api/workspace-views/{view_id}. */
export const updateViewBody = object({
  name: optional(text()),
  project: described(optional(maybeBlankText()), "A blank one takes it away."),
  payload: optional(payload),
  visibility: described(visibility, "Absent: as before."),
});

/** PUT /api/workspace-views/{view_id}. Faults travel in the message, because a missing view takes precedence. */
export function decodeUpdateView({ params, body }: RouteInput): MessageInitShape<typeof UpdateViewRequestSchema> {
  const { value, fault } = withFault(() => updateViewBody.read(body));
  const { payload: payloadJson, ...same } = value ?? {};
  return { viewId: params["view_id"]!, ...same, payloadJson, bodyFault: fault };
}

/** GET, and export, of /api/workspace-views/{view_id}. */
export function decodeViewId({ params }: RouteInput): { viewId: string } {
  return { viewId: params["view_id"]! };
}

/** Query of DELETE /api/workspace-views/{view_id}. */
export const deleteViewQuery = object({
  expected_updated_at: described(instantText, "`updated_at` of the view as the client knows it; another one is 409."),
});

/** DELETE /api/workspace-views/{view_id}. Faults travel in the message, because a missing view takes precedence. */
export function decodeDeleteView({ params, query }: RouteInput): MessageInitShape<typeof DeleteViewRequestSchema> {
  const { value, fault } = withFault(() => deleteViewQuery.read(query));
  return { viewId: params["view_id"]!, ...value, queryFault: fault };
}

/** Query of GET /api/workspace-views. */
export const listViewsQuery = object({ limit: limit(VIEWS_PAGE_ROWS), cursor: queryText() });

/** GET /api/workspace-views. @throws bad_request */
export function decodeListViews({ query }: RouteInput): MessageInitShape<typeof ListViewsRequestSchema> {
  return listViewsQuery.read(query);
}

const sharedMembers = {
  visibility: { const: "organization", description: "Absent for a view that only its owner reads." },
  is_owner: { ...booleanSchema, description: "Of a shared view: whether it is the user's, who alone changes it." },
};

/** The members that show that a view is shared; private views have none of them. */
function sharedJson({
  visibility: whose,
  isOwner,
}: Pick<View, "visibility" | "isOwner">): Readonly<Record<string, Json>> {
  return whose === "organization" ? { visibility: whose, is_owner: isOwner } : {};
}

/** A view of a list. */
export const viewSummarySchema = objectSchema(
  {
    id: uuidSchema,
    name: textSchema,
    project: textOrNullSchema,
    created_at: timeSchema,
    updated_at: timeSchema,
    owner_user_id: { ...uuidSchema, description: "Of a shared view." },
    ...sharedMembers,
  },
  ["owner_user_id", ...Object.keys(sharedMembers)],
);

function summaryJson(view: ViewSummary): Json {
  const shared = sharedJson(view);
  return {
    id: view.id,
    name: view.name,
    project: view.project ?? null,
    created_at: view.createdAt,
    updated_at: view.updatedAt,
    ...("visibility" in shared && { owner_user_id: view.ownerUserId }),
    ...shared,
  };
}

/** `{"workspace_views": [row, …], next_cursor}` */
export function encodeListViews({ views, nextCursor }: ListViewsResponse): RouteReply {
  return {
    body: {
      workspace_views: views.map(summaryJson),
      next_cursor: nextCursor === "" ? null : nextCursor,
    },
  };
}

/** A view. */
export const viewSchema = objectSchema(
  {
    schema_version: { const: 1 },
    id: uuidSchema,
    org_id: uuidSchema,
    owner_user_id: uuidSchema,
    name: textSchema,
    project: textOrNullSchema,
    payload: { type: "object" },
    created_at: timeSchema,
    updated_at: timeSchema,
    deleted_at: timeOrNullSchema,
    ...sharedMembers,
  },
  Object.keys(sharedMembers),
);

/** Returns a view with its payload. Only views that are not deleted are shown. */
export function viewJson(view: View): Json {
  return {
    schema_version: 1,
    id: view.id,
    org_id: view.orgId,
    owner_user_id: view.ownerUserId,
    name: view.name,
    project: view.project ?? null,
    payload: raw(utf8Text.decode(view.payloadJson)),
    created_at: view.createdAt,
    updated_at: view.updatedAt,
    deleted_at: null,
    ...sharedJson(view),
  };
}

/** `{"workspace_view": row}` */
export function encodeView({ view }: { readonly view?: View | undefined }): RouteReply {
  return { body: { workspace_view: viewJson(requireMessage(view)) } };
}

/** `{"deleted": true, view_id, deleted_at}` */
export function encodeDeleteView({ viewId, deletedAt }: DeleteViewResponse): RouteReply {
  return { body: { deleted: true, view_id: viewId, deleted_at: deletedAt } };
}
