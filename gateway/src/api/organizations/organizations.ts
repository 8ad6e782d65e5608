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
import { readOptionalText, readOptionalUuid, readText, withFault } from "../fields/index.ts";
import { readPage } from "../page.ts";
import { requireMessage } from "../replies.ts";
import { textOrNullSchema, uuidOrNullSchema } from "../schemas.ts";
import { billingStateSchema, membershipSummaryJson, organizationJson, planTierSchema } from "./rows.ts";

/** Body of POST /api/orgs. */
export const createOrganizationSchema: Schema = {
  type: "object",
  description: "At least one of `name` and `slug`.",
  properties: {
    name: textOrNullSchema,
    slug: { ...textOrNullSchema, description: "1 to 63 lower-case letters, digits and hyphens; made from the name." },
    plan_tier: { type: ["string", "null"], enum: ["free", "pro", "premium", "lab", "startup", "growth", null] },
    owner_user_id: uuidOrNullSchema,
  },
};

/** POST /api/orgs. The caller cannot choose the storage, so `storage_choice` is not read. @throws bad_request */
export function decodeCreateOrganization({
  body,
}: RouteInput): MessageInitShape<typeof CreateOrganizationRequestSchema> {
  return {
    name: readOptionalText(body, "name", { blank: "absent" }) ?? "",
    slug: readOptionalText(body, "slug", { blank: "absent" }) ?? "",
    planTier: readOptionalText(body, "plan_tier", { blank: "absent" }) ?? "",
    ownerUserId: readOptionalUuid(body, "owner_user_id") ?? "",
  };
}

/** `{organization}`. */
export function encodeOrganization({ organization }: { readonly organization?: Organization }): RouteReply {
  return { body: { organization: organizationJson(requireMessage(organization)) } };
}

/** GET /api/orgs. @throws bad_request */
export function decodeListOrganizations({
  query,
}: RouteInput): MessageInitShape<typeof ListOrganizationsRequestSchema> {
  return { page: readPage(query) };
}

/** `{organizations}`. */
export function encodeListOrganizations({ organizations }: ListOrganizationsResponse): RouteReply {
  return { body: { organizations: organizations.map(organizationJson) } };
}

/** Body of PATCH /api/orgs/{org_id}. */
export const updateOrganizationSchema: Schema = {
  type: "object",
  description: "At least one of the two.",
  properties: { plan_tier: planTierSchema, billing_state: billingStateSchema },
};

/** PATCH /api/orgs/{org_id}. Faults travel in the message, because a missing organization goes before them. */
export function decodeUpdateOrganization({
  params,
  body,
}: RouteInput): MessageInitShape<typeof UpdateOrganizationRequestSchema> {
  const { value, fault } = withFault(() => {
    const planTier = readOptionalText(body, "plan_tier");
    const billingState = readOptionalText(body, "billing_state");
    return { ...(planTier === undefined ? {} : { planTier }), ...(billingState === undefined ? {} : { billingState }) };
  });
  return { orgId: params["org_id"]!, ...value, bodyFault: fault };
}

/** GET /api/orgs/name-availability. @throws bad_request */
export function decodeCheckOrganizationName({
  query,
}: RouteInput): MessageInitShape<typeof CheckOrganizationNameRequestSchema> {
  return { name: readText(query, "name") };
}

/** `{name, slug, available, message}`. */
export function encodeCheckOrganizationName({ name, slug, available }: CheckOrganizationNameResponse): RouteReply {
  const message = available ? "This name is free." : "An organization with this name exists.";
  return { body: { name, slug, available, message } };
}

/** `{memberships}`. */
export function encodeListMemberships({ memberships }: ListMembershipsResponse): RouteReply {
  return { body: { memberships: memberships.map(membershipSummaryJson) } };
}
