import { sql, type Tx } from "@tidemark/pg";

/** What is known of a key in one run. */
export type KeyHead = {
  readonly runId: string;
  readonly count: number;
  readonly firstStep: number;
  readonly lastStep: number;
};

const listHeads = sql(
  "ingest_list_heads_of_key",
  `SELECT run_id AS "runId", count, first_step AS "firstStep", latest_step AS "lastStep"
   FROM ingest.metric_heads
   WHERE org_id = $1 AND run_id = ANY ($2::uuid[]) AND key = $3`,
);

/** The heads of one key in those of the runs that have it. */
export function listHeadsOfKey(tx: Tx, orgId: string, runIds: readonly string[], key: string): Promise<KeyHead[]> {
  return tx.rows(listHeads, [orgId, runIds, key]);
}
