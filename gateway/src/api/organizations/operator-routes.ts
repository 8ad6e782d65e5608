import { route, type Route } from "../../route.ts";
import { accountsPage } from "../parameters.ts";
import { listSchema, objectSchema } from "../replies.ts";
import {
  createOrganizationBody,
  decodeCreateOrganization,
  decodeListOrganizations,
  decodeUpdateOrganization,
  encodeListOrganizations,
  encodeOrganization,
  updateOrganizationBody,
} from "./organizations.ts";
import { createUserSchema, decodeCreateUser, decodeListUsers, encodeCreateUser, encodeListUsers } from "./people.ts";
import { organizationSchema, userSchema } from "./rows.ts";

const facts = { tag: "operators", callers: { kind: "operator" }, rate: "none", idempotency: "none" } as const;

/** What an operator does with the bootstrap token: users, organizations, plans. */
export const operatorRoutes: readonly Route[] = [
  route({
    ...facts,
    method: "POST",
    path: "/api/users",
    summary: "Make a user, or return the one of this address",
    body: "required",
    schemas: { body: createUserSchema, response: objectSchema({ user: userSchema }) },
    statuses: [200, 400, 401],
    decode: decodeCreateUser,
    rpc: (clients, request, call) => clients.control.createUser(request, call),
    encode: encodeCreateUser,
  }),
  route({
    ...facts,
    method: "GET",
    path: "/api/users",
    summary: "All users, oldest first",
    schemas: { query: accountsPage.schema, response: objectSchema({ users: listSchema(userSchema) }) },
    statuses: [200, 400, 401],
    decode: decodeListUsers,
    rpc: (clients, request, call) => clients.control.listUsers(request, call),
    encode: encodeListUsers,
  }),
  route({
    ...facts,
    method: "POST",
    path: "/api/orgs",
    summary: "Make an organization",
    body: "required",
    schemas: { body: createOrganizationBody.schema, response: objectSchema({ organization: organizationSchema }) },
    statuses: [200, 400, 401, 404, 409],
    decode: decodeCreateOrganization,
    rpc: (clients, request, call) => clients.control.createOrganization(request, call),
    encode: encodeOrganization,
  }),
  route({
    ...facts,
    method: "GET",
    path: "/api/orgs",
    summary: "All organizations, oldest first",
    schemas: {
      query: accountsPage.schema,
      response: objectSchema({ organizations: listSchema(organizationSchema) }),
    },
    statuses: [200, 400, 401],
    decode: decodeListOrganizations,
    rpc: (clients, request, call) => clients.control.listOrganizations(request, call),
    encode: encodeListOrganizations,
  }),
  route({
    ...facts,
    method: "PATCH",
    path: "/api/orgs/{org_id}",
    summary: "Set an organization's plan and billing state",
    description: "A new plan brings its number of seats.",
    changesAccess: true,
    body: "required",
    schemas: { body: updateOrganizationBody.schema, response: objectSchema({ organization: organizationSchema }) },
    statuses: [200, 400, 401, 404],
    decode: decodeUpdateOrganization,
    rpc: (clients, request, call) => clients.control.updateOrganization(request, call),
    encode: encodeOrganization,
  }),
];
