import { sql } from "@tidemark/pg";
import type { RunStatus, StopState } from "@tidemark/run-state";
import type { RunsFixture } from "./fixture.ts";

/** A stored status and a stop state. */
export type Step = readonly [status: RunStatus, stop: StopState];

const setState = sql(
  "test_set_state",
  `SELECT runs.set_state_v1($1, $2, $3, CASE WHEN $3 <> 'running' THEN coalesce(r.finished_at, now()) ELSE r.finished_at END,
                            r.resume_count, r.resumed_at, $4, CASE WHEN $4 <> 'none' THEN $2::uuid END, NULL, NULL, NULL,
                            NULL, NULL, NULL, NULL)
   FROM runs.runs r WHERE r.org_id = $1 AND r.id = $2`,
);

/** Moves a run through states, each in a transaction of its own, by the function that stop requests use too. */
export async function move({ db }: RunsFixture, orgId: string, runId: string, states: readonly Step[]): Promise<void> {
  for (const [status, stop] of states) {
    await db.withTenant(orgId, (tx) => tx.rows(setState, [orgId, runId, status, stop]));
  }
}
