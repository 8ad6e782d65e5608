import type { ViewVisibility } from "@tidemark/limits";
import { sql, type Tx } from "@tidemark/pg";
import { keepSeeing } from "../deletion/deleted-projects.sql.ts";
import type { Times } from "../reports/archived-reports.sql.ts";

/** A view as the statements return it: instants are RFC 3339 texts, the payload a JSON text. */
export type ViewRow = {
  readonly id: string;
  readonly orgId: string;
  readonly ownerUserId: string;
  readonly name: string;
  readonly project: string | null;
  readonly payload: string;
  readonly visibility: ViewVisibility;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** Select list of a `ViewRow`, over `reports.views v`. */
const viewColumns = `v.id, v.org_id AS "orgId", v.owner_user_id AS "ownerUserId", v.name, v.project, v.payload, v.visibility,
  v.created_at AS "createdAt", v.updated_at AS "updatedAt"`;

// With the other conditions in addition, an index of the views of a user could look as good as the primary key.
const findSql = sql(
  "reports_find_view",
  `SELECT ${viewColumns} FROM (SELECT f.* FROM reports.views f WHERE f.org_id = $1 AND f.id = $2 OFFSET 0) v
   WHERE (v.owner_user_id = $3 OR v.visibility = 'organization') AND v.deleted_at IS NULL`,
);

/** Returns the view with this id, if it is the user's or shared, and not deleted. */
export function findView(tx: Tx, orgId: string, userId: string, viewId: string): Promise<ViewRow | undefined> {
  return tx.one(findSql, [orgId, viewId, userId]);
}

/** The state that a change of a view is checked against. */
export type ViewState = Pick<ViewRow, "ownerUserId" | "visibility" | "updatedAt"> & {
  readonly deletedAt: string | null;
};

const stateOf = (name: string, lock: string, more = "") =>
  sql(
    name,
    `SELECT owner_user_id AS "ownerUserId", visibility, updated_at AS "updatedAt", deleted_at AS "deletedAt"${more} FROM reports.views
     WHERE org_id = $1 AND id = $2 ${lock}`,
  );
const lockSql = stateOf("reports_lock_view", "FOR UPDATE", `, ${keepSeeing}`);
const readStateSql = stateOf("reports_read_view_state", "");

/** Locks a view, also a deleted one, and returns its state. */
export function lockView(tx: Tx, orgId: string, viewId: string): Promise<ViewState | undefined> {
  return tx.one(lockSql, [orgId, viewId]);
}

/** Returns the state of a view, also of a deleted one. */
export function readViewState(tx: Tx, orgId: string, viewId: string): Promise<ViewState | undefined> {
  return tx.one(readStateSql, [orgId, viewId]);
}

const insertSql = sql(
  "reports_insert_view",
  `INSERT INTO reports.views AS v (org_id, id, owner_user_id, name, project, payload, visibility) VALUES ($1, $2, $3, $4, $5, $6, $7)
   RETURNING ${viewColumns}`,
);

/** The content of a view. */
export type ViewContent = Pick<ViewRow, "name" | "project" | "payload" | "visibility">;

/** Inserts a view, whose project was entered. */
export async function insertView(
  tx: Tx,
  orgId: string,
  userId: string,
  id: string,
  { name, project, payload, visibility }: ViewContent,
): Promise<ViewRow> {
  const row = await tx.one<ViewRow>(insertSql, [orgId, id, userId, name, project, payload, visibility]);
  return row!;
}

// Later than before also where the clock was set back, so that no client mistakes a changed view for the one it knows.
const LATER = "greatest(clock_timestamp(), v.updated_at + interval '1 microsecond')";

/** The changes to a view; undefined fields stay unchanged. */
type ViewChange = {
  readonly name: string | undefined;
  /** Null: none. */
  readonly project: string | null | undefined;
  readonly payload: string | undefined;
  readonly visibility: ViewVisibility | undefined;
};

const updateSql = sql(
  "reports_update_view",
  `UPDATE reports.views v SET name = coalesce($3, v.name), project = CASE WHEN $4::boolean THEN $5 ELSE v.project END,
     payload = coalesce($6, v.payload), visibility = coalesce($7, v.visibility), updated_at = ${LATER}
   WHERE v.org_id = $1 AND v.id = $2 RETURNING ${viewColumns}`,
);

/** Changes a view that is locked. It becomes newer even if nothing changes. A new project of it was entered. */
export async function changeView(
  tx: Tx,
  orgId: string,
  viewId: string,
  { name, project, payload, visibility }: ViewChange,
): Promise<ViewRow> {
  const values = [
    orgId,
    viewId,
    name ?? null,
    project !== undefined,
    project ?? null,
    payload ?? null,
    visibility ?? null,
  ];
  const row = await tx.one<ViewRow>(updateSql, values);
  return row!;
}

const bytesSql = sql(
  "reports_view_bytes",
  `SELECT CASE WHEN $3::boolean THEN octet_length(v.name) ELSE 0 END + CASE WHEN $4::boolean THEN coalesce(octet_length(v.project), 0) ELSE 0 END
            + CASE WHEN $5::boolean THEN octet_length(v.payload) ELSE 0 END AS bytes
   FROM reports.views v WHERE v.org_id = $1 AND v.id = $2`,
);

/** Returns the bytes of the parts that a change of a view replaces; 0 if the view does not exist. */
export async function viewBytes(
  tx: Tx,
  orgId: string,
  viewId: string,
  { name, project, payload }: Partial<ViewChange>,
): Promise<number> {
  const changed = [name !== undefined, project !== undefined, payload !== undefined];
  return (await tx.one<{ bytes: number }>(bytesSql, [orgId, viewId, ...changed]))?.bytes ?? 0;
}

const deleteSql = sql(
  "reports_delete_view",
  `UPDATE reports.views v SET deleted_at = clock_timestamp(), updated_at = ${LATER}, payload = '{}'
   WHERE v.org_id = $1 AND v.id = $2 RETURNING v.deleted_at AS "deletedAt"`,
);

/** Marks a view that is locked as deleted, and returns when that was. */
export async function markViewDeleted(tx: Tx, orgId: string, viewId: string): Promise<string> {
  const row = await tx.one<{ deletedAt: string }>(deleteSql, [orgId, viewId]);
  return row!.deletedAt;
}

/** Views have at most 64 KiB each. */
const VIEWS_TOGETHER = 50;

const listViews = sql(
  "reports_export_views",
  `SELECT ${viewColumns} FROM reports.views v
   WHERE v.org_id = $1 AND v.owner_user_id = $2 AND v.deleted_at IS NULL
   ORDER BY v.updated_at DESC, v.name, v.id LIMIT ${VIEWS_TOGETHER} OFFSET $3::bigint`,
);

/** Reads the views of a user, the last changed ones first. A user has at most some hundreds, so pages use offsets. */
export async function* readViewsOfUser(
  tx: Tx,
  orgId: string,
  userId: string,
): AsyncGenerator<ViewRow, void, undefined> {
  for (let offset = 0; ; offset += VIEWS_TOGETHER) {
    const rows = await tx.rows<ViewRow>(listViews, [orgId, userId, offset]);
    yield* rows;
    if (rows.length < VIEWS_TOGETHER) return;
  }
}

const insertViewSql = sql(
  "reports_restore_view",
  `INSERT INTO reports.views (org_id, id, owner_user_id, name, project, payload, visibility, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (org_id, id) DO NOTHING`,
);

/** Inserts a view of a user unless its id is taken. Returns whether it did. */
export async function insertRestoredView(
  tx: Tx,
  orgId: string,
  userId: string,
  { id, name, project, payload, visibility, createdAt, updatedAt }: ViewContent & Times & { readonly id: string },
): Promise<boolean> {
  const values = [orgId, id, userId, name, project, payload, visibility, createdAt, updatedAt];
  return (await tx.count(insertViewSql, values)) === 1;
}
