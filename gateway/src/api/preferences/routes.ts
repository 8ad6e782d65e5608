import { route, type Route } from "../../route.ts";
import { signedIn, signedInWriters } from "../callers.ts";
import { decodeSetPreferences, encodePreferences, preferencesSchema, setPreferencesBody } from "./preferences.ts";

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
