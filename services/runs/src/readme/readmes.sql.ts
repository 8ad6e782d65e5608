import { sql, type Tx } from "@tidemark/pg";

const findSql = sql(
  "runs_find_readme",
  `SELECT coalesce((SELECT m.markdown FROM runs.readmes m WHERE m.org_id = $1 AND m.run_id = $2 OFFSET 0), '') AS markdown
   FROM runs.runs r WHERE r.org_id = $1 AND r.id = $2 AND ($3::uuid IS NULL OR r.project_id = $3)`,
);

/** Returns the readme of a run, `""` where it has none; undefined when the run is not in the organization, or not in `projectId`. */
export async function findReadme(
  tx: Tx,
  orgId: string,
  runId: string,
  projectId: string | undefined,
): Promise<string | undefined> {
  return (await tx.one<{ markdown: string }>(findSql, [orgId, runId, projectId ?? null]))?.markdown;
}

const putSql = sql(
  "runs_put_readme",
  `INSERT INTO runs.readmes (org_id, run_id, markdown) VALUES ($1, $2, $3)
   ON CONFLICT (org_id, run_id) DO UPDATE SET markdown = excluded.markdown`,
);
const clearSql = sql("runs_clear_readme", "DELETE FROM runs.readmes WHERE org_id = $1 AND run_id = $2");

/** Replaces the readme of a run that this transaction has locked; `""` clears it. */
export async function putReadme(tx: Tx, orgId: string, runId: string, markdown: string): Promise<void> {
  if (markdown === "") await tx.count(clearSql, [orgId, runId]);
  else await tx.count(putSql, [orgId, runId, markdown]);
}

/** Returns SQL of the bytes of the readme of the run with this alias. Only its length is read. */
export function bytesOfReadme(run: string): string {
  return `coalesce((SELECT octet_length(m.markdown) FROM runs.readmes m WHERE m.org_id = ${run}.org_id AND m.run_id = ${run}.id OFFSET 0), 0)`;
}

const listSql = sql(
  "runs_list_readmes",
  `SELECT m.run_id AS "runId", m.markdown FROM unnest($2::uuid[]) AS asked (id)
   CROSS JOIN LATERAL (SELECT o.run_id, o.markdown FROM runs.readmes o WHERE o.org_id = $1 AND o.run_id = asked.id OFFSET 0) m`,
);

/** Returns the readmes of the runs that have one, by run. The runs are visible to the caller. */
export async function listReadmes(tx: Tx, orgId: string, runIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.rows<{ runId: string; markdown: string }>(listSql, [orgId, runIds]);
  return new Map(rows.map(({ runId, markdown }) => [runId, markdown]));
}

const restoreSql = sql(
  "runs_restore_readmes",
  `INSERT INTO runs.readmes (org_id, run_id, markdown)
   SELECT $1, r.id, w.markdown FROM unnest($2::uuid[], $3::text[]) AS w (id, markdown)
   CROSS JOIN LATERAL (SELECT o.id FROM runs.runs o WHERE o.org_id = $1 AND o.id = w.id OFFSET 0) r
   ON CONFLICT (org_id, run_id) DO NOTHING`,
);

/** Stores readmes of restored runs, and leaves existing readmes unchanged. */
export async function restoreReadmes(
  tx: Tx,
  orgId: string,
  readmes: readonly { readonly runId: string; readonly markdown: string }[],
): Promise<void> {
  if (readmes.length === 0) return;
  await tx.count(restoreSql, [orgId, readmes.map(({ runId }) => runId), readmes.map(({ markdown }) => markdown)]);
}
