import { route, type Route } from "../../route.ts";
import { peopleManagers, signedIn } from "../callers.ts";
import { personBody } from "../organizations/people.ts";
import { invitationsPage } from "../parameters.ts";
import { listSchema, objectSchema, textSchema } from "../replies.ts";
import { encodeNewSession, sessionSchema } from "../sessions/sessions.ts";
import {
  decodeAcceptInvitation,
  decodeCreateInvitation,
  decodeListInvitations,
  decodePreviewInvitation,
  decodeResendInvitation,
  decodeRevokeInvitation,
  encodeListInvitations,
  encodePreviewInvitation,
  encodeRevokeInvitation,
  encodeSentInvitation,
  invitationSchema,
  sentInvitationSchema,
  tokenBody,
} from "./invitations.ts";

const managed = { tag: "invitations", callers: peopleManagers, rate: "account", idempotency: "none" } as const;

/** Invitations to an organization. */
export const invitationsRoutes: readonly Route[] = [
  route({
    ...managed,
    method: "GET",
    path: "/api/orgs/{org_id}/invitations",
    summary: "An organization's invitations, newest first",
    schemas: {
      query: invitationsPage.schema,
      response: objectSchema({
        invitations: listSchema(invitationSchema),
        limit: { type: "integer" },
        offset: { type: "integer" },
      }),
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListInvitations,
    rpc: (clients, request, call) => clients.control.listInvitations(request, call),
    encode: encodeListInvitations,
  }),
  route({
    ...managed,
    method: "POST",
    path: "/api/orgs/{org_id}/invitations",
    summary: "Invite an address",
    description: "Valid for 7 days. Where messages go to the log, the answer holds the link to hand on.",
    body: "required",
    schemas: { body: personBody.schema, response: sentInvitationSchema },
    statuses: [200, 400, 401, 402, 403, 404, 409, 503],
    decode: decodeCreateInvitation,
    rpc: (clients, request, call) => clients.control.createInvitation(request, call),
    encode: encodeSentInvitation,
  }),
  route({
    ...managed,
    method: "POST",
    path: "/api/orgs/{org_id}/invitations/{invitation_id}/resend",
    summary: "Send an invitation again",
    description: "At most every 15 minutes. The old link stops working, and the 7 days start again.",
    schemas: { response: sentInvitationSchema },
    statuses: [200, 401, 402, 403, 404, 409, 410, 429, 503],
    decode: decodeResendInvitation,
    rpc: (clients, request, call) => clients.control.resendInvitation(request, call),
    encode: encodeSentInvitation,
  }),
  route({
    ...managed,
    method: "POST",
    path: "/api/orgs/{org_id}/invitations/{invitation_id}/revoke",
    summary: "Take an invitation back",
    schemas: { response: objectSchema({ invitation: invitationSchema }) },
    statuses: [200, 401, 403, 404, 409],
    decode: decodeRevokeInvitation,
    rpc: (clients, request, call) => clients.control.revokeInvitation(request, call),
    encode: encodeRevokeInvitation,
  }),
  route({
    tag: "invitations",
    method: "POST",
    path: "/api/invitations/preview",
    summary: "What an invitation is to",
    callers: { kind: "anyone" },
    rate: "general",
    idempotency: "none",
    body: "required",
    schemas: {
      body: tokenBody.schema,
      response: objectSchema({
        invitation: objectSchema({
          org_name: textSchema,
          email_hint: textSchema,
          role: textSchema,
          status: textSchema,
          expires_at: { type: "string", format: "date-time" },
        }),
      }),
    },
    statuses: [200, 400, 404],
    decode: decodePreviewInvitation,
    rpc: (clients, request, call) => clients.control.previewInvitation(request, call),
    encode: encodePreviewInvitation,
  }),
  route({
    tag: "invitations",
    method: "POST",
    path: "/api/invitations/accept",
    summary: "Join the organization of an invitation",
    description: "Ends the session and opens one there, which comes as a new cookie.",
    callers: signedIn,
    changesAccess: true,
    rate: "account",
    idempotency: "none",
    body: "required",
    schemas: { body: tokenBody.schema, response: sessionSchema },
    statuses: [200, 400, 401, 402, 403, 404, 409, 410],
    decode: decodeAcceptInvitation,
    rpc: (clients, request, call) => clients.control.acceptInvitation(request, call),
    encode: encodeNewSession,
  }),
];
