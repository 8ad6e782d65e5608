import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type {
  CheckOrganizationNameRequestSchema,
  CheckOrganizationNameResponse,
  CreateOrganizationRequestSchema,
  DeleteOrganizationResponse,
  ListMembershipsResponse,
  ListOrganizationsRequestSchema,
  ListOrganizationsResponse,
  Organization,
  UndeleteOrganizationResponse,
  UpdateOrganizationRequestSchema,
} from "@tidemark/proto/control/v1/control";
import { IdentitySchema } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import type { Clients } from "../../clients.ts";
import {
  deletedFlag,
  deletionJson,
  deletionQuery,
  measureRemoved,
  removedJson,
  withDeletion,
  type Removed,
} from "../deletion/deletion.ts";
import { described, object, optional, someOf, withDefault, withFault } from "../fields/field.ts";
import { text, textOrEmpty, trimmedPattern, uuid, wordForService } from "../fields/text.ts";
import { accountsPage, pathId, readPage } from "../parameters.ts";
import { requireMessage } from "../replies.ts";
import { billingStateSchema, membershipSummaryJson, organizationJson, organizationSchema } from "./rows.ts";

// The service makes and checks short names; these patterns describe the texts that it will accept.
const NAME_PATTERN = "[\\p{L}\\p{N}]";
const SLUG_PATTERN = trimmedPattern("(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)?");
const planTierNames: Schema = { type: "string", enum: ["free", "pro", "premium", "lab", "startup", "growth"] };

/** The name of an organization, from which a short name can be made. */
export const organizationName = described(text(), "With a letter or a digit.", { allOf: [{ pattern: NAME_PATTERN }] });

/** Body of POST /api/orgs: one of `name` and `slug` must not be blank. The caller cannot choose the storage, so `storage_choice` is not read. */
export const createOrganizationBody = object(
  {
    name: described(textOrEmpty(), "With a letter or a digit, where no slug is given."),
    slug: described(textOrEmpty(), "Made from the name unless given.", { pattern: SLUG_PATTERN }),
    plan_tier: wordForService(["free", "pro", "premium", "lab", "startup", "growth"], "free"),
    owner_user_id: withDefault(uuid(), ""),
  },
  {
    anyOf: [
      { required: ["name"], properties: { name: { type: "string", pattern: NAME_PATTERN } } },
      { required: ["slug"], properties: { slug: { type: "string", pattern: "[a-z0-9]" } } },
    ],
  },
);

/** POST /api/orgs. @throws bad_request */
export function decodeCreateOrganization({
  body,
}: RouteInput): MessageInitShape<typeof CreateOrganizationRequestSchema> {
  return createOrganizationBody.read(body);
}

/** `{organization}`. */
export function encodeOrganization({ organization }: { readonly organization?: Organization }): RouteReply {
  return { body: { organization: organizationJson(requireMessage(organization)) } };
}

/** GET /api/orgs. @throws bad_request */
export function decodeListOrganizations({
  query,
}: RouteInput): MessageInitShape<typeof ListOrganizationsRequestSchema> {
  return { page: readPage(accountsPage, query) };
}

/** `{organizations}`. */
export function encodeListOrganizations({ organizations }: ListOrganizationsResponse): RouteReply {
  return { body: { organizations: organizations.map(organizationJson) } };
}

/** Body of PATCH /api/orgs/{org_id}. */
export const updateOrganizationBody = object(
  {
    plan_tier: optional({ ...text(), schema: planTierNames }),
    billing_state: optional({ ...text(), schema: billingStateSchema }),
  },
  someOf("plan_tier", "billing_state"),
);

/** PATCH /api/orgs/{org_id}. Faults travel in the message, because a missing organization takes precedence. */
export function decodeUpdateOrganization({
  params,
  body,
}: RouteInput): MessageInitShape<typeof UpdateOrganizationRequestSchema> {
  const { value, fault } = withFault(() => updateOrganizationBody.read(body));
  return { orgId: params["org_id"]!, ...value, bodyFault: fault };
}

/** Query of GET /api/orgs/name-availability. */
export const checkNameQuery = object({ name: organizationName });

/** GET /api/orgs/name-availability. @throws bad_request */
export function decodeCheckOrganizationName({
  query,
}: RouteInput): MessageInitShape<typeof CheckOrganizationNameRequestSchema> {
  return checkNameQuery.read(query);
}

/** `{name, slug, available, message}`. */
export function encodeCheckOrganizationName({ name, slug, available }: CheckOrganizationNameResponse): RouteReply {
  const message = available ? "This name is free." : "An organization with this name exists.";
  return { body: { name, slug, available, message } };
}

/** Query of GET /api/orgs/memberships. */
export const listMembershipsQuery = object({ deleted: deletedFlag });

/** `{memberships}`. */
export function encodeListMemberships({ memberships }: ListMembershipsResponse): RouteReply {
  return { body: { memberships: memberships.map(membershipSummaryJson) } };
}

/** An organization that says whether it is deleted. */
export const deletableOrganizationSchema: Schema = withDeletion(organizationSchema);

/** DELETE /api/orgs/{org_id}. @throws bad_request */
export function decodeDeleteOrganization(input: RouteInput): { orgId: string; dryRun: boolean } {
  return { orgId: pathId(input, "org_id"), dryRun: deletionQuery.read(input.query).dryRun };
}

/** Deletes an organization, or measures what would be removed. */
export async function deleteOrganization(
  clients: Clients,
  request: { readonly orgId: string; readonly dryRun: boolean },
  call: Call,
): Promise<DeleteOrganizationResponse | Removed> {
  const deleted = await clients.control.deleteOrganization(request, call);
  if (!request.dryRun) return deleted;
  // An operator belongs to no organization, but was granted access to this one.
  const identity = create(IdentitySchema, { kind: call.identity!.kind, orgId: request.orgId });
  return measureRemoved(clients, {}, { ...call, identity });
}

/** `{organization}`, or `{counts, bytes}` of a dry run. */
export function encodeDeleteOrganization(reply: DeleteOrganizationResponse | Removed): RouteReply {
  return "points" in reply ? { body: removedJson(reply) } : encodeRestoreOrganization(reply);
}

/** POST /api/orgs/{org_id}/restore. */
export function decodeRestoreOrganization(input: RouteInput): { orgId: string } {
  return { orgId: pathId(input, "org_id") };
}

/** `{organization}`. */
export function encodeRestoreOrganization({
  organization,
}: DeleteOrganizationResponse | UndeleteOrganizationResponse): RouteReply {
  const row = requireMessage(organization);
  return { body: { organization: { ...organizationJson(row), ...deletionJson(row.deletion) } } };
}
