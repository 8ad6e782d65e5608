import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AcceptInvitationRequestSchema,
  CreateInvitationRequestSchema,
  Invitation,
  ListInvitationsRequestSchema,
  ListInvitationsResponse,
  PreviewInvitationRequestSchema,
  PreviewInvitationResponse,
  ResendInvitationRequestSchema,
  RevokeInvitationRequestSchema,
  RevokeInvitationResponse,
  SentInvitation,
} from "@tidemark/proto/control/v1/control";
import type { Json } from "../../http/json.ts";
import type { RouteInput, RouteReply } from "../../route.ts";
import { object, withFault } from "../fields/field.ts";
import { text } from "../fields/text.ts";
import { personBody } from "../organizations/people.ts";
import { roleSchema } from "../organizations/rows.ts";
import { invitationsPage, readPage } from "../parameters.ts";
import {
  objectSchema,
  requireMessage,
  secretReply,
  textOrNull,
  textOrNullSchema,
  textSchema,
  timeOrNullSchema,
  timeSchema,
  uuidSchema,
} from "../replies.ts";

/** An invitation without its token. */
export const invitationSchema = objectSchema({
  id: uuidSchema,
  org_id: uuidSchema,
  email: textSchema,
  role: roleSchema,
  status: { type: "string", enum: ["pending", "accepted", "revoked", "expired"] },
  created_at: timeSchema,
  expires_at: timeSchema,
  last_sent_at: timeOrNullSchema,
  accepted_at: timeOrNullSchema,
  revoked_at: timeOrNullSchema,
  delivery_status: { type: "string", enum: ["queued", "sent", "failed"] },
});

/** An invitation without its token. */
function invitationJson(invitation: Invitation): Json {
  return {
    id: invitation.id,
    org_id: invitation.orgId,
    email: invitation.email,
    role: invitation.role,
    status: invitation.status,
    created_at: invitation.createdAt,
    expires_at: invitation.expiresAt,
    last_sent_at: textOrNull(invitation.lastSentAt),
    accepted_at: textOrNull(invitation.acceptedAt),
    revoked_at: textOrNull(invitation.revokedAt),
    delivery_status: invitation.deliveryStatus,
  };
}

/** An invitation with the outcome of its message. */
export const sentInvitationSchema = objectSchema({
  invitation: invitationSchema,
  preview_link: { type: ["string", "null"], description: "To hand on, where no message could carry it." },
  delivery_error: textOrNullSchema,
});

/** An invitation with the outcome of its message. */
export function sentInvitationJson({ invitation, previewLink, deliveryError }: SentInvitation): Json {
  return {
    invitation: invitationJson(requireMessage(invitation)),
    preview_link: textOrNull(previewLink),
    delivery_error: textOrNull(deliveryError),
  };
}

/** GET /api/orgs/{org_id}/invitations. @throws bad_request */
export function decodeListInvitations({
  params,
  query,
}: RouteInput): MessageInitShape<typeof ListInvitationsRequestSchema> & { page: { limit: number; offset: bigint } } {
  return { orgId: params["org_id"]!, page: readPage(invitationsPage, query) };
}

/** `{invitations, limit, offset}`. */
export function encodeListInvitations(
  { invitations }: ListInvitationsResponse,
  { page }: { readonly page: { readonly limit: number; readonly offset: bigint } },
): RouteReply {
  const { limit, offset } = page;
  return { body: { invitations: invitations.map(invitationJson), limit, offset: Number(offset) } };
}

/** POST /api/orgs/{org_id}/invitations. Faults travel in the message, because a missing organization takes precedence. */
export function decodeCreateInvitation({
  params,
  body,
  baseUrl,
}: RouteInput): MessageInitShape<typeof CreateInvitationRequestSchema> {
  const { value, fault } = withFault(() => personBody.read(body));
  return { orgId: params["org_id"]!, ...value, bodyFault: fault, baseUrl };
}

/** `{invitation, preview_link, delivery_error}`. */
export function encodeSentInvitation({ sent }: { readonly sent?: SentInvitation }): RouteReply {
  return secretReply(sentInvitationJson(requireMessage(sent)));
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

/** Body that carries an invitation's token. */
export const tokenBody = object({ token: text() });

/** POST /api/invitations/preview. @throws bad_request */
export function decodePreviewInvitation({ body }: RouteInput): MessageInitShape<typeof PreviewInvitationRequestSchema> {
  return tokenBody.read(body);
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
  return tokenBody.read(body);
}
