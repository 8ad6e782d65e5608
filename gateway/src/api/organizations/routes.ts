import { route, type Route } from "../../route.ts";
import { organizationDeleters, organizationRestorers, peopleManagers, signedIn, signedInAnywhere } from "../callers.ts";
import { deletionQuery, dryRunSchema } from "../deletion/deletion.ts";
import { sentInvitationSchema } from "../invitations/invitations.ts";
import { accountsPage } from "../page.ts";
import { listSchema, objectSchema } from "../schemas.ts";
import { sessionSchema } from "../sessions/sessions.ts";
import {
  decodeDeleteOrganization,
  decodeRestoreOrganization,
  deletableOrganizationSchema,
  deleteOrganization,
  encodeDeleteOrganization,
  encodeRestoreOrganization,
} from "./delete.ts";
import {
  checkNameQuery,
  decodeCheckOrganizationName,
  encodeCheckOrganizationName,
  encodeListMemberships,
  listMembershipsQuery,
} from "./organizations.ts";
import {
  createOwnOrganizationBody,
  decodeCreateOwnOrganization,
  encodeCreateOwnOrganization,
} from "./own-organization.ts";
import {
  decodeAddSeat,
  decodeChangeSeat,
  decodeListSeats,
  decodeRemoveSeat,
  encodeListSeats,
  encodeSeat,
  personBody,
  seatChangeBody,
} from "./people.ts";
import { membershipSchema, membershipSummarySchema, organizationSchema, seatSchema } from "./rows.ts";

const facts = { tag: "organizations", idempotency: "none" } as const;

/** Organizations as their members see them. */
export const organizationsRoutes: readonly Route[] = [
  route({
    ...facts,
    method: "GET",
    path: "/api/orgs/memberships",
    summary: "The organizations of the signed-in user",
    description: "With deleted=true those that are deleted and can be restored.",
    callers: signedInAnywhere,
    rate: "account",
    schemas: {
      query: listMembershipsQuery.schema,
      response: objectSchema({ memberships: listSchema(membershipSummarySchema) }),
    },
    statuses: [200, 400, 401, 403],
    decode: ({ query }) => listMembershipsQuery.read(query),
    rpc: (clients, request, call) => clients.control.listMemberships(request, call),
    encode: encodeListMemberships,
  }),
  route({
    ...facts,
    method: "GET",
    path: "/api/orgs/name-availability",
    summary: "Whether an organization's name is free",
    callers: { kind: "anyone" },
    rate: "general",
    schemas: {
      query: checkNameQuery.schema,
      response: objectSchema({
        name: { type: "string" },
        slug: { type: "string" },
        available: { type: "boolean" },
        message: { type: "string" },
      }),
    },
    statuses: [200, 400],
    decode: decodeCheckOrganizationName,
    rpc: (clients, request, call) => clients.control.checkOrganizationName(request, call),
    encode: encodeCheckOrganizationName,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/orgs/current-user",
    summary: "Make an organization of one's own",
    description: "Brings the caller there with a new session, unless `switch_on_create` is false.",
    callers: signedIn,
    changesAccess: true,
    rate: "account",
    body: "required",
    schemas: {
      body: createOwnOrganizationBody.schema,
      response: objectSchema({
        organization: organizationSchema,
        membership: membershipSchema,
        memberships: listSchema(membershipSummarySchema),
        invitations: listSchema(sentInvitationSchema),
        session: { anyOf: [sessionSchema, { type: "null" }] },
        billing_checkout: { type: "null" },
        onboarding_api_key: { type: "null" },
      }),
    },
    statuses: [200, 400, 401, 403, 409, 503],
    decode: decodeCreateOwnOrganization,
    rpc: (clients, request, call) => clients.control.createOwnOrganization(request, call),
    encode: encodeCreateOwnOrganization,
  }),
  route({
    ...facts,
    method: "DELETE",
    path: "/api/orgs/{org_id}",
    summary: "Delete an organization",
    description:
      "Its keys become invalid immediately; sessions in it can only restore it and switch to another organization. It can be restored until purge_after; then everything in it is removed. A repeated call answers the same. dry_run=true answers {counts, bytes} instead.",
    callers: organizationDeleters,
    changesAccess: true,
    rate: "account",
    schemas: {
      query: deletionQuery.schema,
      response: { oneOf: [objectSchema({ organization: deletableOrganizationSchema }), dryRunSchema] },
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeDeleteOrganization,
    rpc: deleteOrganization,
    encode: encodeDeleteOrganization,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/orgs/{org_id}/restore",
    summary: "Restore a deleted organization",
    description:
      "As it was, with its keys. For its owners and admins, wherever they are signed in. One that is not deleted is answered as it is.",
    callers: organizationRestorers,
    changesAccess: true,
    rate: "account",
    schemas: { response: objectSchema({ organization: deletableOrganizationSchema }) },
    statuses: [200, 401, 403, 404],
    decode: decodeRestoreOrganization,
    rpc: (clients, request, call) => clients.control.undeleteOrganization(request, call),
    encode: encodeRestoreOrganization,
  }),
  route({
    ...facts,
    method: "GET",
    path: "/api/orgs/{org_id}/seats",
    summary: "The members of an organization, invited ones included",
    callers: peopleManagers,
    rate: "account",
    schemas: { query: accountsPage.schema, response: objectSchema({ seats: listSchema(seatSchema) }) },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListSeats,
    rpc: (clients, request, call) => clients.control.listSeats(request, call),
    encode: encodeListSeats,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/orgs/{org_id}/seats",
    summary: "Reserve a seat for an address",
    description: "It becomes active when its owner signs in. Whoever has a seat keeps it as it is.",
    callers: peopleManagers,
    rate: "account",
    body: "required",
    schemas: { body: personBody.schema, response: objectSchema({ seat: seatSchema }) },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeAddSeat,
    rpc: (clients, request, call) => clients.control.addSeat(request, call),
    encode: encodeSeat,
  }),
  route({
    ...facts,
    method: "PATCH",
    path: "/api/orgs/{org_id}/seats/{membership_id}",
    summary: "Give a member another role",
    description:
      "Their sessions have it within a second. Only owners make and change owners; the last owner of an organization stays one (409).",
    callers: peopleManagers,
    changesAccess: true,
    rate: "account",
    body: "required",
    schemas: { body: seatChangeBody.schema, response: objectSchema({ seat: seatSchema }) },
    statuses: [200, 400, 401, 403, 404, 409],
    decode: decodeChangeSeat,
    rpc: (clients, request, call) => clients.control.changeSeat(request, call),
    encode: encodeSeat,
  }),
  route({
    ...facts,
    method: "DELETE",
    path: "/api/orgs/{org_id}/seats/{membership_id}",
    summary: "Take a member out of the organization",
    description:
      "Answers with the seat as it was. Their sessions there have ended within a second; keys that they made stay until they are revoked. Only owners remove owners, and never the last one (409).",
    callers: peopleManagers,
    changesAccess: true,
    rate: "account",
    schemas: { response: objectSchema({ seat: seatSchema }) },
    statuses: [200, 401, 403, 404, 409],
    decode: decodeRemoveSeat,
    rpc: (clients, request, call) => clients.control.removeSeat(request, call),
    encode: encodeSeat,
  }),
];
