import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AcceptInvitationRequestSchema,
  CreateInvitationRequestSchema,
  ListInvitationsRequestSchema,
  ListInvitationsResponse,
  PreviewInvitationRequestSchema,
  PreviewInvitationResponse,
  ResendInvitationRequestSchema,
  RevokeInvitationRequestSchema,
  RevokeInvitationResponse,
  SentInvitation,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply } from "../route.ts";
import { INVITATIONS_LIMIT, readPage } from "./control-page.ts";
import { invitationJson, textOrNull } from "./control-rows.ts";
import { secretReply } from "./control-secret-reply.ts";
import { readOptionalText, readText, withFault } from "./fields.ts";
import type { Json } from "./json.ts";
import { requireMessage } from "./runs-message.ts";

/** GET /api/orgs/{org_id}/invitations. @throws bad_request */
export function decodeListInvitations({
  params,
  query,
}: RouteInput): MessageInitShape<typeof ListInvitationsRequestSchema> & { page: { limit: number; offset: bigint } } {
  return { orgId: params["org_id"]!, page: readPage(query, INVITATIONS_LIMIT) };
}

/** `{invitations, limit, offset}`. */
export function encodeListInvitations({ invitations }: ListInvitationsResponse, { query }: RouteInput): RouteReply {
  const { limit, offset } = readPage(query, INVITATIONS_LIMIT);
  return { body: { invitations: invitations.map(invitationJson), limit, offset: Number(offset) } };
}

/** POST /api/orgs/{org_id}/invitations. Faults travel in the message, because a missing organization goes before them. */
export function decodeCreateInvitation({
  params,
  body,
  baseUrl,
}: RouteInput): MessageInitShape<typeof CreateInvitationRequestSchema> {
  const { value, fault } = withFault(() => ({
    email: readText(body, "email"),
    role: readOptionalText(body, "role", { blank: "absent" }) ?? "",
  }));
  return { orgId: params["org_id"]!, ...value, bodyFault: fault, baseUrl };
}

/** `{invitation, preview_link, delivery_error}`. */
export function encodeSentInvitation({ sent }: { readonly sent?: SentInvitation }): RouteReply {
  return secretReply(sentInvitationJson(requireMessage(sent)));
}

/** An invitation with what became of its message. */
export function sentInvitationJson({ invitation, previewLink, deliveryError }: SentInvitation): Json {
  return {
    invitation: invitationJson(requireMessage(invitation)),
    preview_link: textOrNull(previewLink),
    delivery_error: textOrNull(deliveryError),
  };
}

/** POST /api/orgs/{org_id}/invitations/{invitation_id}/resend. */
export function decodeResendInvitation({
  params,
  baseUrl,
}: RouteInput): MessageInitShape<typeof ResendInvitationRequestSchema> {
  return { orgId: params["org_id"]!, invitationId: params["invitation_id"]!, baseUrl };
}

/** POST /api/orgs/{org_id}/invitations/{invitation_id}/revoke. */
export function decodeRevokeInvitation({ params }: RouteInput): MessageInitShape<typeof RevokeInvitationRequestSchema> {
  return { orgId: params["org_id"]!, invitationId: params["invitation_id"]! };
}

/** `{invitation}`. */
export function encodeRevokeInvitation({ invitation }: RevokeInvitationResponse): RouteReply {
  return { body: { invitation: invitationJson(requireMessage(invitation)) } };
}

/** POST /api/invitations/preview. @throws bad_request */
export function decodePreviewInvitation({ body }: RouteInput): MessageInitShape<typeof PreviewInvitationRequestSchema> {
  return { token: readText(body, "token") };
}

/** `{invitation: {org_name, email_hint, role, status, expires_at}}`. */
export function encodePreviewInvitation(preview: PreviewInvitationResponse): RouteReply {
  return secretReply({
    invitation: {
      org_name: preview.orgName,
      email_hint: preview.emailHint,
      role: preview.role,
      status: preview.status,
      expires_at: preview.expiresAt,
    },
  });
}

/** POST /api/invitations/accept. @throws bad_request */
export function decodeAcceptInvitation({ body }: RouteInput): MessageInitShape<typeof AcceptInvitationRequestSchema> {
  return { token: readText(body, "token") };
}
