import { sql, type Tx } from "@tidemark/pg";

const updateRunDocumentsSql = sql(
  "runs_update_run_documents",
  `UPDATE runs.runs SET tags = coalesce($3, tags), metadata = coalesce($4, metadata)
   WHERE org_id = $1 AND id = $2`,
);

/** Replaces tags and metadata of a run that this transaction has locked; undefined leaves them. */
export async function updateRunDocuments(
  tx: Tx,
  orgId: string,
  runId: string,
  changes: { readonly tags: readonly string[] | undefined; readonly metadata: string | undefined },
): Promise<void> {
  await tx.count(updateRunDocumentsSql, [orgId, runId, changes.tags ?? null, changes.metadata ?? null]);
}
