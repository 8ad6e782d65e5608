import { sql, type Tx } from "@tidemark/pg";

const listSql = sql(
  "runs_list_unsettled",
  'SELECT org_id AS "orgId", id AS "projectId" FROM runs.unsettled_projects()',
);

/** Returns some projects, of any organizations, whose runs do not all follow them yet. */
export function listUnsettled(tx: Tx): Promise<{ orgId: string; projectId: string }[]> {
  return tx.rows(listSql, []);
}

const readSql = sql(
  "runs_read_unsettled",
  `SELECT deleted_at IS NOT NULL AS "isDeleted", unsettled AS "isUnsettled", texts_behind AS "areTextsBehind"
   FROM runs.projects WHERE org_id = $1 AND id = $2`,
);

/** The pending work for the runs of a project. */
export type ProjectWork = {
  readonly isDeleted: boolean;
  readonly isUnsettled: boolean;
  readonly areTextsBehind: boolean;
};

/** Returns the pending work for the runs of a project; undefined when the project does not exist. */
export function readWork(tx: Tx, orgId: string, projectId: string): Promise<ProjectWork | undefined> {
  return tx.one(readSql, [orgId, projectId]);
}

// All transactions use one order, so that two of them cannot wait for each other.
const lockVisibleSql = sql(
  "runs_lock_visible",
  `SELECT id FROM runs.runs WHERE org_id = $1 AND project_id = $2 AND NOT hidden ORDER BY id LIMIT $3::bigint FOR UPDATE`,
);
const lockHiddenSql = sql(
  "runs_lock_hidden",
  `SELECT id FROM runs.runs WHERE org_id = $1 AND project_id = $2 AND hidden AND deleted_at IS NULL
   ORDER BY id LIMIT $3::bigint FOR UPDATE`,
);

/** Locks and returns at most `rowsMax` runs of a project that are hidden with it, or that are not. */
export async function lockRunsThatAre(
  tx: Tx,
  state: "hidden" | "visible",
  orgId: string,
  projectId: string,
  rowsMax: number,
): Promise<string[]> {
  const statement = state === "hidden" ? lockHiddenSql : lockVisibleSql;
  return (await tx.rows<{ id: string }>(statement, [orgId, projectId, rowsMax])).map(({ id }) => id);
}

const renameTextsSql = sql(
  "runs_rename_texts",
  `WITH page AS (
     SELECT r.* FROM runs.runs r WHERE r.org_id = $1 AND r.project_id = $2 AND r.id > $3 AND NOT r.hidden
     ORDER BY r.id LIMIT $4::bigint FOR UPDATE
   ), renamed AS (
     UPDATE runs.run_texts t SET summary = n.summary, irregular = n.irregular
     FROM page r
     CROSS JOIN LATERAL (SELECT o.name FROM runs.projects o WHERE o.org_id = $1 AND o.id = $2 OFFSET 0) p
     CROSS JOIN LATERAL runs.texts_of(ROW (r.*)::runs.runs, p.name) n
     WHERE t.org_id = $1 AND t.run_id = r.id AND t.summary <> n.summary
   )
   SELECT id AS last FROM page ORDER BY id DESC LIMIT 1`,
);

/** Renews the searched texts of at most `rowsMax` runs of a renamed project, after a run. Returns the last one; undefined: there were none. */
export async function renameTexts(
  tx: Tx,
  orgId: string,
  projectId: string,
  after: string,
  rowsMax: number,
): Promise<string | undefined> {
  return (await tx.one<{ last: string }>(renameTextsSql, [orgId, projectId, after, rowsMax]))?.last;
}

const settledSql = sql("runs_settled", "UPDATE runs.projects SET unsettled = false WHERE org_id = $1 AND id = $2");

/** Marks that all runs follow their project, which the transaction has locked. */
export async function markSettled(tx: Tx, orgId: string, projectId: string): Promise<void> {
  await tx.count(settledSql, [orgId, projectId]);
}

const textsSettledSql = sql(
  "runs_texts_settled",
  "UPDATE runs.projects SET texts_behind = false WHERE org_id = $1 AND id = $2 AND name = $3",
);

/** Marks that the searched texts have this project name, unless the name has changed since. */
export async function markTextsSettled(tx: Tx, orgId: string, projectId: string, name: string): Promise<void> {
  await tx.count(textsSettledSql, [orgId, projectId, name]);
}

const forgetSql = sql("runs_forget_visibility", "SELECT runs.forget_visibility_changes($1 * interval '1 hour')");

/** Removes visibility changes that are older than `hours`. */
export async function forgetVisibilityChanges(tx: Tx, hours: number): Promise<void> {
  await tx.rows(forgetSql, [hours]);
}
