import { sql, type Tx } from "@tidemark/pg";
import type { PlanUsage } from "../domain/plan-limits.ts";

const statement = sql(
  "runs_read_plan_usage",
  `SELECT count(*) AS projects,
          coalesce(sum(runs_running + runs_finished + runs_failed), 0)::bigint AS runs
   FROM runs.projects WHERE org_id = $1`,
);

/** What the organization has, from the counters of its projects: at most a few hundred rows where limits are on. */
export async function readPlanUsage(tx: Tx, orgId: string): Promise<PlanUsage> {
  return (await tx.one<PlanUsage>(statement, [orgId])) ?? { projects: 0, runs: 0 };
}
