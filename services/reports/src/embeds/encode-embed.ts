import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EmbedSessionSchema } from "@tidemark/proto/reports/v1/embeds";
import type { EmbedRow } from "./embeds.sql.ts";

/** Encodes a session, without the hash of its token, which only the service knows. */
export function encodeEmbed(row: EmbedRow): MessageInitShape<typeof EmbedSessionSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    keyId: row.key_id,
    projectId: row.project_id ?? "",
    scopes: [...row.scopes],
    allowedParentOrigin: row.allowed_parent_origin,
    runIds: [...row.run_ids],
    theme: row.theme,
    panelsMax: row.panels_max,
    pointsMax: row.points_max,
    expiresAt: row.expires_at,
  };
}
