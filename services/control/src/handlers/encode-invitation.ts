import type { MessageInitShape } from "@bufbuild/protobuf";
import type { InvitationSchema } from "@tidemark/proto/control/v1/control";
import { statusAt } from "../domain/invitations.ts";
import type { InvitationRow } from "../store/rows-invitations.ts";

/** With the status as it is at `now`, whatever the sweeper has got to. */
export function encodeInvitation(row: InvitationRow, now: Date): MessageInitShape<typeof InvitationSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    email: row.email,
    role: row.role,
    status: statusAt({ status: row.status, expiresAt: new Date(row.expires_at) }, now),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastSentAt: row.last_sent_at,
    acceptedAt: row.accepted_at ?? "",
    revokedAt: row.revoked_at ?? "",
    deliveryStatus: row.delivery_status,
  };
}
