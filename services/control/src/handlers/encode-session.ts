import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SessionSchema } from "@tidemark/proto/control/v1/control";
import type { SessionRow } from "../store/rows-sessions.ts";

export function encodeSession(row: SessionRow): MessageInitShape<typeof SessionSchema> {
  return {
    id: row.id,
    userId: row.user_id,
    orgId: row.org_id,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at ?? "",
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at ?? "",
  };
}
