import { sql, type Tx } from "@tidemark/pg";

/** The choices of a user. `updatedAt` is an RFC 3339 text. */
export type PreferencesRow = { readonly selectedProject: string | null; readonly updatedAt: string };

const columns = `selected_project AS "selectedProject", updated_at AS "updatedAt"`;

const findSql = sql(
  "reports_find_preferences",
  `SELECT ${columns} FROM reports.preferences WHERE org_id = $1 AND user_id = $2`,
);

/** Returns the choices of a user in an organization; undefined: none yet. */
export function findPreferences(tx: Tx, orgId: string, userId: string): Promise<PreferencesRow | undefined> {
  return tx.one(findSql, [orgId, userId]);
}

const saveSql = sql(
  "reports_save_preferences",
  `INSERT INTO reports.preferences AS p (org_id, user_id, selected_project) VALUES ($1, $2, $3)
   ON CONFLICT (org_id, user_id) DO UPDATE SET selected_project = excluded.selected_project,
     updated_at = greatest(clock_timestamp(), p.updated_at + interval '1 microsecond')
   RETURNING ${columns}`,
);

/** Replaces the choices of a user. */
export async function savePreferences(
  tx: Tx,
  orgId: string,
  userId: string,
  selectedProject: string | null,
): Promise<PreferencesRow> {
  const row = await tx.one<PreferencesRow>(saveSql, [orgId, userId, selectedProject]);
  return row!;
}
