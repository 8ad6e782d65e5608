import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  CreateOwnOrganizationRequestSchema,
  CreateOwnOrganizationResponse,
} from "@tidemark/proto/control/v1/control";
import type { EncoderInput, RouteInput, RouteReply } from "../../route.ts";
import { boolean, isObject, listOf, object, withDefault } from "../fields/field.ts";
import { wordForService } from "../fields/text.ts";
import { sentInvitationJson } from "../invitations/invitations.ts";
import { requireMessage, secretReply } from "../replies.ts";
import { cookieOf, sessionJson } from "../sessions/sessions.ts";
import { organizationName } from "./organizations.ts";
import { personBody } from "./people.ts";
import { membershipJson, membershipSummaryJson, organizationJson } from "./rows.ts";

/** The fault of an invitation names its own field. */
const wishes = listOf(personBody.schema, { itemsMax: 100 }, (item) => {
  if (!isObject(item)) throw badRequest("initial_invitations must hold objects", "initial_invitations");
  return personBody.read(item);
});

/** Body of POST /api/orgs/current-user. */
export const createOwnOrganizationBody = object({
  name: organizationName,
  account_type: wordForService(["business", "personal"], "business"),
  plan_tier: wordForService(["free"], "free"),
  initial_invitations: withDefault(wishes, []),
  switch_on_create: withDefault(boolean(), true, { default: true }),
});

/** POST /api/orgs/current-user. @throws bad_request */
export function decodeCreateOwnOrganization({
  body,
  baseUrl,
}: RouteInput): MessageInitShape<typeof CreateOwnOrganizationRequestSchema> {
  return { ...createOwnOrganizationBody.read(body), baseUrl };
}

/** `{organization, membership, memberships, invitations, session, …}`; with a cookie when the caller's session moved there. */
export function encodeCreateOwnOrganization(
  { organization, membership, memberships, invitations, created }: CreateOwnOrganizationResponse,
  _request: unknown,
  input: EncoderInput,
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
    created === undefined ? {} : cookieOf(created, input),
  );
}
