import { badRequest } from "@tidemark/errors";
import { VIEWS_MAX } from "@tidemark/limits";
import { sql, type Tx } from "@tidemark/pg";
import type { ViewRow } from "./views.sql.ts";

/** A view of a list. */
export type ViewSummaryRow = Omit<ViewRow, "orgId" | "payload">;

/** The last view of a page. */
export type ViewPosition = { readonly updatedAt: string; readonly name: string; readonly id: string };

// Two walks, each of an index of its own, which are merged: those of the user, and those that others share.
const listSql = (name: string, start: string) => {
  const walk = (whose: string): string =>
    `(SELECT v.id, v.owner_user_id AS "ownerUserId", v.name, v.project, v.visibility, v.created_at AS "createdAt", v.updated_at AS "updatedAt"
      FROM reports.views v WHERE v.org_id = $1 AND ${whose} AND v.deleted_at IS NULL AND ${start}
      ORDER BY v.updated_at DESC, v.name, v.id LIMIT $3::bigint)`;
  return sql(
    name,
    `SELECT v.* FROM (${walk("v.owner_user_id = $2")}
       UNION ALL ${walk("v.visibility = 'organization' AND v.owner_user_id <> $2")}) v
     ORDER BY v."updatedAt" DESC, v.name, v.id LIMIT $3::bigint`,
  );
};
const firstSql = listSql("reports_list_views", "$4::timestamptz IS NULL AND $5::text IS NULL AND $6::uuid IS NULL");
// Only views that changed in the same microsecond are read in vain.
const nextSql = listSql(
  "reports_list_next_views",
  `v.updated_at <= $4::timestamptz AND (v.updated_at < $4::timestamptz OR (v.name, v.id) > ($5 COLLATE "C", $6::uuid))`,
);

/** Returns the views that a user reads, their own and those that others share; the last changed ones first, after a position. */
export function listViewRows(
  tx: Tx,
  orgId: string,
  userId: string,
  { limit, after }: { readonly limit: number; readonly after: ViewPosition | undefined },
): Promise<ViewSummaryRow[]> {
  const place = [after?.updatedAt ?? null, after?.name ?? null, after?.id ?? null];
  return tx.rows(after === undefined ? firstSql : nextSql, [orgId, userId, limit, ...place]);
}

/** Used instead of a user id: the whole organization. */
const ALL = "00000000-0000-0000-0000-000000000000";

const limitsOf = (userId: string) =>
  [
    { owner: ALL, max: VIEWS_MAX.ofOrganization, whose: "an organization" },
    { owner: userId, max: VIEWS_MAX.ofUser, whose: "a user" },
  ] as const;

const addSql = sql(
  "reports_count_one_more_view",
  `INSERT INTO reports.view_counts AS c (org_id, owner_user_id, views) VALUES ($1, $2, 1)
   ON CONFLICT (org_id, owner_user_id) DO UPDATE SET views = c.views + 1 WHERE c.views < $3::integer RETURNING c.views`,
);

/** Counts a new view. Other writers of views of the organization wait from here to the end of the transaction. @throws bad_request when there are too many */
export async function countNewView(tx: Tx, orgId: string, userId: string): Promise<void> {
  for (const { owner, max, whose } of limitsOf(userId)) {
    const counted = await tx.count(addSql, [orgId, owner, max]);
    if (counted === 0) throw tooMany(whose, max);
  }
}

const addAnySql = sql(
  "reports_count_restored_view",
  `INSERT INTO reports.view_counts AS c (org_id, owner_user_id, views) VALUES ($1, $2, 1)
   ON CONFLICT (org_id, owner_user_id) DO UPDATE SET views = c.views + 1`,
);

/** Counts a restored view, regardless of the limit: no part of an archive is lost. */
export async function countRestoredView(tx: Tx, orgId: string, userId: string): Promise<void> {
  for (const { owner } of limitsOf(userId)) await tx.count(addAnySql, [orgId, owner]);
}

const readSql = sql(
  "reports_read_view_count",
  "SELECT views FROM reports.view_counts WHERE org_id = $1 AND owner_user_id = $2",
);

/** Throws in advance the error that `countNewView` would throw. @throws bad_request */
export async function requireRoomForView(tx: Tx, orgId: string, userId: string): Promise<void> {
  for (const { owner, max, whose } of limitsOf(userId)) {
    const row = await tx.one<{ views: number }>(readSql, [orgId, owner]);
    if (row !== undefined && row.views >= max) throw tooMany(whose, max);
  }
}

const takeSql = sql(
  "reports_count_one_less_view",
  "UPDATE reports.view_counts SET views = views - 1 WHERE org_id = $1 AND owner_user_id = $2",
);

/** Counts a deleted view. */
export async function countDeletedView(tx: Tx, orgId: string, userId: string): Promise<void> {
  for (const { owner } of limitsOf(userId)) await tx.count(takeSql, [orgId, owner]);
}

function tooMany(whose: string, max: number) {
  return badRequest(`${whose} may have at most ${max} workspace views`);
}
