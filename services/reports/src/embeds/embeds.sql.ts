import { sql, type Tx } from "@tidemark/pg";

/** The name of an embed session in refusals. */
export const EMBED = "embed session";

/** An embed session as it is stored; instants are RFC 3339 texts. */
export type EmbedRow = {
  readonly org_id: string;
  readonly id: string;
  readonly key_id: string;
  readonly project_id: string | null;
  readonly scopes: readonly string[];
  readonly token_hash: Uint8Array;
  readonly allowed_parent_origin: string;
  readonly run_ids: readonly string[];
  readonly theme: string;
  readonly panels_max: number;
  readonly points_max: number;
  readonly expires_at: string;
};

const takeTurnSql = sql(
  "reports_take_embed_turn",
  "INSERT INTO reports.embed_turns AS t (org_id, turn) VALUES ($1, 1) ON CONFLICT (org_id) DO UPDATE SET turn = t.turn + 1",
);
const forgetSql = sql(
  "reports_forget_embeds",
  `DELETE FROM reports.embed_sessions s USING (
     SELECT o.id FROM reports.embed_sessions o
     WHERE o.org_id = $1 AND o.expires_at < clock_timestamp() - interval '1 day' ORDER BY o.expires_at LIMIT 100
   ) old WHERE s.org_id = $1 AND s.id = old.id`,
);
const countSql = sql(
  "reports_count_embeds",
  `SELECT count(*) AS "ofOrganization", count(*) FILTER (WHERE s.key_id = $2) AS "ofKey"
   FROM reports.embed_sessions s WHERE s.org_id = $1 AND s.expires_at > clock_timestamp()`,
);

/**
 * Returns how many sessions of an organization and of a key have not expired. Other creators of its sessions wait until this transaction ends.
 * Deletes sessions that expired more than a day ago, more of them than one call creates.
 */
export async function countLiveEmbeds(
  tx: Tx,
  orgId: string,
  keyId: string,
): Promise<{ readonly ofOrganization: number; readonly ofKey: number }> {
  await tx.count(takeTurnSql, [orgId]);
  await tx.count(forgetSql, [orgId]);
  return (await tx.one<{ ofOrganization: number; ofKey: number }>(countSql, [orgId, keyId]))!;
}

const insertSql = sql(
  "reports_insert_embed",
  `INSERT INTO reports.embed_sessions (org_id, id, key_id, project_id, scopes, token_hash, allowed_parent_origin, run_ids, theme, panels_max,
                                       points_max, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp() + $12::float8 * interval '1 second')
   RETURNING expires_at`,
);

/** Stores a session and returns when it expires. */
export async function insertEmbed(
  tx: Tx,
  row: Omit<EmbedRow, "expires_at">,
  ttlSeconds: number,
): Promise<Pick<EmbedRow, "expires_at">> {
  const { org_id, id, key_id, project_id, scopes, token_hash, allowed_parent_origin, run_ids, theme } = row;
  const made = await tx.one<Pick<EmbedRow, "expires_at">>(insertSql, [
    org_id,
    id,
    key_id,
    project_id,
    scopes,
    Buffer.from(token_hash),
    allowed_parent_origin,
    run_ids,
    theme,
    row.panels_max,
    row.points_max,
    ttlSeconds,
  ]);
  return made!;
}

const findSql = sql("reports_find_embed", "SELECT * FROM reports.find_embed($1)");

/** Returns a session of any organization. Before the hashes are compared, only the data that its frame needs may be revealed. */
export function findEmbed(db: Tx, id: string): Promise<(EmbedRow & { readonly expired: boolean }) | undefined> {
  return db.one(findSql, [id]);
}
