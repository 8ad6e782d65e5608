import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CheckOrganizationNameRequestSchema,
  CheckOrganizationNameResponse,
  CreateOrganizationRequestSchema,
  ListMembershipsResponse,
  ListOrganizationsRequestSchema,
  ListOrganizationsResponse,
  Organization,
  UpdateOrganizationRequestSchema,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { deletedFlag } from "../deletion/deletion.ts";
import { described, object, optional, someOf, withDefault, withFault } from "../fields/field.ts";
import { text, textOrEmpty, trimmedPattern, uuid, wordForService } from "../fields/text.ts";
import { accountsPage, readPage } from "../page.ts";
import { requireMessage } from "../replies.ts";
import { billingStateSchema, membershipSummaryJson, organizationJson } from "./rows.ts";

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
