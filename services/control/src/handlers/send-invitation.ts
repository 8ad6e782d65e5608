import type { MessageInitShape } from "@bufbuild/protobuf";
import { issueCredential } from "@tidemark/credentials";
import type { SentInvitationSchema } from "@tidemark/proto/control/v1/control";
import type { InvitationRow } from "../store/rows-invitations.ts";
import type { OrganizationRow } from "../store/rows-organizations.ts";
import { setDeliveryStatus } from "../store/set-delivery-status.ts";
import { webAddress, type ControlDeps } from "./deps.ts";
import { encodeInvitation } from "./encode-invitation.ts";

/** A new token for an invitation: its text goes into the message, the rest is stored. */
export function issueInviteToken({ randomBytes }: ControlDeps): { text: string; id: string; hash: Uint8Array } {
  return issueCredential("invite", randomBytes);
}

/**
 * Sends the message of a committed invitation and notes what became of it. A message that was not
 * taken is no error of the request: the invitation stands, and can be sent again at once.
 */
export async function sendInvitation(
  deps: ControlDeps,
  invitation: InvitationRow,
  message: { organization: OrganizationRow; token: string; baseUrl: string },
): Promise<MessageInitShape<typeof SentInvitationSchema>> {
  const { org_id: orgId, id } = invitation;
  const note = (status: "sent" | "failed") =>
    deps.db.withTenant(orgId, (tx) => setDeliveryStatus(tx, orgId, id, status));
  let previewLink: string | undefined;
  try {
    ({ previewLink } = await deps.mail.sendInvitation({
      to: invitation.email,
      organizationName: message.organization.name,
      role: invitation.role,
      // Behind a hash, so that the token does not reach any server's access log.
      link: `${webAddress(deps, message.baseUrl)}/invitations/accept#token=${message.token}`,
      expiresAt: invitation.expires_at,
      invitationId: id,
      orgId,
    }));
  } catch {
    return {
      invitation: encodeInvitation(await note("failed"), deps.now()),
      deliveryError: "the message could not be sent",
    };
  }
  return { invitation: encodeInvitation(await note("sent"), deps.now()), previewLink: previewLink ?? "" };
}
