import {
  maybeSessionSchema,
  objectSchema,
  sessionSchema,
  signedOutSchema,
  signInSchema,
} from "../codecs/control-schemas.ts";
import {
  decodeGetSession,
  decodeSignIn,
  decodeSignOut,
  decodeSwitchOrganization,
  encodeAuthConfig,
  encodeGetSession,
  encodeNewSession,
  encodeSignOut,
} from "../codecs/control-sessions.ts";
import { route, type Route } from "../route.ts";
import { signedIn } from "./control-callers.ts";

const facts = { tag: "sessions", idempotency: "none" } as const;
const anyone = { kind: "anyone" } as const;

/** Browser sessions. */
export const controlSessionsRoutes: readonly Route[] = [
  route({
    ...facts,
    method: "GET",
    path: "/api/auth/config",
    summary: "Which ways of signing in there are",
    callers: anyone,
    rate: "none",
    schemas: {
      response: objectSchema({
        dev_auth_enabled: { type: "boolean" },
        managed_clerk_enabled: { type: "boolean" },
        service_plane: { type: "string" },
      }),
    },
    statuses: [200],
    decode: () => ({}),
    rpc: (clients, request, call) => clients.control.getAuthConfig(request, call),
    encode: encodeAuthConfig,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/auth/dev/google",
    summary: "Sign in by address alone, on installations for development",
    description: "A new person gets an organization. Answers 401 unless the installation was started for development.",
    callers: anyone,
    originRequired: true,
    changesAccess: true,
    rate: "general",
    body: "required",
    schemas: { body: signInSchema, response: sessionSchema },
    statuses: [200, 400, 401, 402, 403, 404, 409, 410, 503],
    decode: decodeSignIn,
    rpc: (clients, request, call) => clients.control.signInForDevelopment(request, call),
    encode: encodeNewSession,
  }),
  route({
    ...facts,
    method: "GET",
    path: "/api/auth/session",
    summary: "Who is signed in",
    callers: anyone,
    rate: "none",
    schemas: { response: maybeSessionSchema },
    statuses: [200],
    decode: decodeGetSession,
    rpc: (clients, request, call) => clients.control.getSession(request, call),
    encode: encodeGetSession,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/auth/logout",
    summary: "Sign out",
    callers: anyone,
    originRequired: true,
    changesAccess: true,
    rate: "none",
    schemas: { response: signedOutSchema },
    statuses: [200, 403],
    decode: decodeSignOut,
    rpc: (clients, request, call) => clients.control.signOut(request, call),
    encode: encodeSignOut,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/auth/switch-organization",
    summary: "Go to another organization of the signed-in user",
    description: "Ends the session and opens another one, which comes as a new cookie.",
    callers: signedIn,
    changesAccess: true,
    rate: "none",
    body: "required",
    schemas: {
      body: objectSchema({ org_id: { type: "string", format: "uuid" } }),
      response: sessionSchema,
    },
    statuses: [200, 400, 401, 403],
    decode: decodeSwitchOrganization,
    rpc: (clients, request, call) => clients.control.switchOrganization(request, call),
    encode: encodeNewSession,
  }),
];
