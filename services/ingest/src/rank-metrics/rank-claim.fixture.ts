import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { type Db } from "@tidemark/pg";
import type { RankSetRef } from "./rank-writes.sql.ts";

const claim =
  testSql(`INSERT INTO ingest.compaction_work (org_id, kind, run_id, part, due_at, marked_at, claimed_until, fence)
   VALUES ($1, 'ranks', $2, $3, now(), now(), now() + interval '1 hour', $4)
   ON CONFLICT (org_id, kind, run_id, part) DO UPDATE SET fence = excluded.fence`);

/** Claims the compaction of a set, like the compactor. `owner` sees the rows of all organizations. */
export async function claimRankSet(
  owner: Db,
  { orgId, runId, setId }: RankSetRef,
): Promise<{ fence: string; leaseSeconds: number }> {
  const fence = randomUUID();
  await owner.rows(claim, [orgId, runId, String(setId), fence]);
  return { fence, leaseSeconds: 60 };
}
