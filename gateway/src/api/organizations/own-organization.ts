import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  CreateOwnOrganizationRequestSchema,
  CreateOwnOrganizationResponse,
  InvitationWishSchema,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { readList, readOptionalBoolean, readOptionalText, readText, type Fields } from "../fields/index.ts";
import { sentInvitationJson } from "../invitations/invitations.ts";
import { requireMessage, secretReply } from "../replies.ts";
import { textOrNullSchema, textSchema } from "../schemas.ts";
import { cookieOf, sessionJson } from "../sessions/sessions.ts";
import { invitedRoleSchema } from "./people.ts";
import { membershipJson, membershipSummaryJson, organizationJson } from "./rows.ts";

const INVITATIONS_MAX = 100;

/** Body of POST /api/orgs/current-user. */
export const createOwnOrganizationSchema: Schema = {
  type: "object",
  required: ["name"],
  properties: {
    name: textSchema,
    account_type: { type: ["string", "null"], enum: ["business", "personal", null], default: "business" },
    plan_tier: textOrNullSchema,
    initial_invitations: {
      type: ["array", "null"],
      items: { type: "object", required: ["email"], properties: { email: textSchema, role: invitedRoleSchema } },
    },
    switch_on_create: { type: ["boolean", "null"], default: true },
  },
};

/** POST /api/orgs/current-user. @throws bad_request */
export function decodeCreateOwnOrganization({
  body,
  baseUrl,
}: RouteInput): MessageInitShape<typeof CreateOwnOrganizationRequestSchema> {
  return {
    name: readText(body, "name"),
    accountType: readOptionalText(body, "account_type", { blank: "absent" }) ?? "",
    planTier: readOptionalText(body, "plan_tier", { blank: "absent" }) ?? "",
    initialInvitations: (readList(body, "initial_invitations", { itemsMax: INVITATIONS_MAX }) ?? []).map(readWish),
    switchOnCreate: readOptionalBoolean(body, "switch_on_create") ?? true,
    baseUrl,
  };
}

function readWish(item: unknown): MessageInitShape<typeof InvitationWishSchema> {
  if (typeof item !== "object" || item === null || Array.isArray(item)) {
    throw badRequest("initial_invitations must hold objects", "initial_invitations");
  }
  const fields = item as Fields;
  return { email: readText(fields, "email"), role: readOptionalText(fields, "role", { blank: "absent" }) ?? "" };
}

/** `{organization, membership, memberships, invitations, session, …}`; with a cookie when the caller's session moved there. */
export function encodeCreateOwnOrganization(
  { organization, membership, memberships, invitations, created }: CreateOwnOrganizationResponse,
  { cookieSecure }: RouteInput,
): RouteReply {
  return secretReply(
    {
      organization: organizationJson(requireMessage(organization)),
      membership: membershipJson(requireMessage(membership)),
      memberships: memberships.map(membershipSummaryJson),
      invitations: invitations.map(sentInvitationJson),
      session: created === undefined ? null : sessionJson(requireMessage(created.view)),
      billing_checkout: null,
      onboarding_api_key: null,
    },
    created === undefined ? {} : cookieOf(created, cookieSecure),
  );
}
