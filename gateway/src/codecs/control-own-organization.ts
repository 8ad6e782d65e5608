import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  CreateOwnOrganizationRequestSchema,
  CreateOwnOrganizationResponse,
  InvitationWishSchema,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply } from "../route.ts";
import { sentInvitationJson } from "./control-invitations.ts";
import { membershipJson, membershipSummaryJson, organizationJson } from "./control-rows.ts";
import { secretReply } from "./control-secret-reply.ts";
import { cookieOf, sessionJson } from "./control-sessions.ts";
import { readList, readOptionalBoolean, readOptionalText, readText, type Fields } from "./fields.ts";
import { requireMessage } from "./runs-message.ts";

const INVITATIONS_MAX = 100;

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

/** `{organization, membership, memberships, invitations, session, …}`; with a cookie when the caller was brought there. */
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
