import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Preferences, SetPreferencesRequestSchema } from "@tidemark/proto/reports/v1/preferences";
import { route, type Route, type RouteInput, type RouteReply } from "../../route.ts";
import { described, object } from "../fields/field.ts";
import { textOrAbsent } from "../fields/text.ts";
import { objectSchema, requireMessage, textOrNullSchema, timeOrNullSchema } from "../replies.ts";
import { signedIn, signedInWriters } from "../callers.ts";

/** Body of PUT /api/dashboard/preferences. */
const setPreferencesBody = object({
  selected_project: described(textOrAbsent(), "Absent, null or blank: none."),
});

/** PUT /api/dashboard/preferences. @throws bad_request */
export function decodeSetPreferences({ body }: RouteInput): MessageInitShape<typeof SetPreferencesRequestSchema> {
  return setPreferencesBody.read(body);
}

/** `{"preferences": {selected_project, updated_at}}`; both are null until something was saved. */
export function encodePreferences({ preferences }: { readonly preferences?: Preferences | undefined }): RouteReply {
  const { selectedProject, updatedAt } = requireMessage(preferences);
  return { body: { preferences: { selected_project: selectedProject ?? null, updated_at: updatedAt ?? null } } };
}

/** The answer of both routes. */
const preferencesSchema = objectSchema({
  preferences: objectSchema({ selected_project: textOrNullSchema, updated_at: timeOrNullSchema }),
});

/** What a user chose in the dashboard of an organization. */
export const preferencesRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/api/dashboard/preferences",
    tag: "dashboard",
    summary: "What the user chose in the dashboard",
    callers: signedIn,
    rate: "none",
    idempotency: "none",
    schemas: { response: preferencesSchema },
    statuses: [200, 401, 403],
    decode: () => ({}),
    rpc: (clients, request, call) => clients.reports.getPreferences(request, call),
    encode: encodePreferences,
  }),
  route({
    method: "PUT",
    path: "/api/dashboard/preferences",
    tag: "dashboard",
    summary: "Choose the project that the dashboard shows",
    callers: signedInWriters,
    rate: "none",
    idempotency: "none",
    body: "required",
    schemas: { body: setPreferencesBody.schema, response: preferencesSchema },
    statuses: [200, 400, 401, 402, 403],
    decode: decodeSetPreferences,
    rpc: (clients, request, call) => clients.reports.setPreferences(request, call),
    encode: encodePreferences,
  }),
];
