import { sql, type Db } from "@tidemark/pg";
import type { WorkItem } from "../domain/work-item.ts";

// Claimed by update, not by row locks: it also works where rows are spread over many servers, and a
// worker that dies leaves its claim to run out.
const claimWork = sql(
  "ingest_claim_compaction_work",
  `UPDATE ingest.compaction_work w SET
     claimed_until = now() + make_interval(secs => $3),
     due_at = now() + make_interval(secs => $3),
     fence = gen_random_uuid()
   FROM (SELECT org_id, run_id, part FROM ingest.compaction_work
         WHERE kind = $1 AND due_at <= now() AND claimed_until <= now() ORDER BY due_at LIMIT $2) due
   WHERE w.kind = $1 AND w.org_id = due.org_id AND w.run_id = due.run_id AND w.part = due.part
     AND w.due_at <= now() AND w.claimed_until <= now()
   RETURNING w.org_id AS "orgId", w.run_id AS "runId", w.part, w.fence, w.marked_at AS "markedAt", w.failures`,
);

/** Claims what has been due longest, under a new fence each. `db` runs as the worker. */
export function claimCompactionWork(
  db: Db,
  kind: string,
  claim: { readonly count: number; readonly leaseSeconds: number },
): Promise<WorkItem[]> {
  return db.rows(claimWork, [kind, claim.count, claim.leaseSeconds]);
}
