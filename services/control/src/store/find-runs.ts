import { sql, type Tx } from "@tidemark/pg";
import type { RunControlRow } from "../domain/known-run.ts";
import { orMissingSchema } from "./missing-schema.ts";

const findRunsSql = sql(
  "control_find_runs",
  `SELECT org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at, stop_acknowledged_at
   FROM runs.run_control_v1
   WHERE org_id = $1 AND id = ANY ($2)`,
);

/**
 * Those of the runs that are in the organization, in no order. Runs belong to the runs service,
 * which shows this much of them.
 * @throws service_unavailable while that service has not set up its schema
 */
export async function findRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<RunControlRow[]> {
  try {
    return await tx.rows(findRunsSql, [orgId, runIds]);
  } catch (error) {
    throw orMissingSchema(error, "runs");
  }
}
