import { sql, type Db } from "@tidemark/pg";
import type { WorkItem } from "../domain/work-item.ts";

const releaseWork = sql(
  "ingest_release_compaction",
  "SELECT FROM ingest.release_compaction($1, $2, $3, $4, $5, $6, $7, $8, $9)",
);

/**
 * Ends a claim, if it still holds. With `quietSeconds` the work ends for good when its last mark is older than that. `db` runs as the worker.
 */
export async function releaseCompactionWork(
  db: Db,
  kind: string,
  item: WorkItem,
  end: { readonly nextSeconds: number; readonly quietSeconds: number | null; readonly failures: number },
): Promise<void> {
  const { orgId, runId, part, fence, markedAt } = item;
  const { nextSeconds, quietSeconds, failures } = end;
  await db.rows(releaseWork, [orgId, kind, runId, part, fence, markedAt, nextSeconds, quietSeconds, failures]);
}
