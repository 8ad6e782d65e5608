import type { InvitationStatus } from "../domain/invitations.ts";
import type { Role } from "../domain/roles.ts";

/** An invitation. */
export type InvitationRow = {
  org_id: string;
  id: string;
  email: string;
  role: Role;
  status: InvitationStatus;
  created_at: string;
  expires_at: string;
  last_sent_at: string;
  delivery_status: "queued" | "sent" | "failed";
  accepted_at: string | null;
  accepted_by_user_id: string | null;
  revoked_at: string | null;
};

/** Columns of an InvitationRow. */
export const invitationColumns = `org_id, id, email, role, status, created_at, expires_at, last_sent_at, delivery_status,
  accepted_at, accepted_by_user_id, revoked_at`;
