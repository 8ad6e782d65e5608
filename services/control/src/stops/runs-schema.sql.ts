import { AppError } from "@tidemark/errors";
import { sql, sqlState, type Tx } from "@tidemark/pg";
import type { RunControlRow } from "./live-runs.rules.ts";

// The schema, the table or view, the function does not exist.
const missingStates = new Set(["3F000", "42P01", "42883"]);

/** Returns whether a statement failed because a schema, or something in it, does not exist. */
export function isMissingSchema(error: unknown): boolean {
  return missingStates.has(sqlState(error));
}

/**
 * Returns the error to throw when a statement on another service's schema failed with `error`: while that service has not set
 * up its schema, an error that tells the client to try again. `what` begins its text.
 */
function orMissingSchema(error: unknown, what: string): unknown {
  if (!isMissingSchema(error)) return error;
  return new AppError("service_unavailable", `${what} cannot be looked up yet; try again`, {
    retryAfterSeconds: 1,
    cause: error,
  });
}

const findProjectSql = sql(
  "control_find_project",
  "SELECT id, name FROM runs.project_refs_v1 WHERE org_id = $1 AND id = $2",
);

const findProjectByNameSql = sql(
  "control_find_project_by_name",
  "SELECT id, name FROM runs.project_refs_v1 WHERE org_id = $1 AND name = $2",
);

/**
 * Returns a project of the organization by its id, or without an id by its name. Projects belong to the runs service,
 * whose view shows other services this much of them.
 * @throws service_unavailable while that service has not set up its schema
 */
export async function findProject(
  tx: Tx,
  orgId: string,
  wanted: { id: string | undefined; name: string | undefined },
): Promise<{ id: string; name: string } | undefined> {
  try {
    if (wanted.id !== undefined) return await tx.one(findProjectSql, [orgId, wanted.id]);
    return await tx.one(findProjectByNameSql, [orgId, wanted.name]);
  } catch (error) {
    throw orMissingSchema(error, "projects");
  }
}

const findRunsSql = sql(
  "control_find_runs",
  `SELECT r.org_id, r.id, r.project_id, r.status, r.stop_state, r.stop_request_id, r.stop_requested_at,
          r.stop_acknowledged_at
   FROM unnest($2::uuid[]) AS wanted (id)
   CROSS JOIN LATERAL (SELECT * FROM runs.run_control_v1 WHERE org_id = $1 AND id = wanted.id OFFSET 0) r`,
);

/**
 * Returns the runs that are in the organization, in no particular order. Runs belong to the runs service, whose view shows
 * this much of them.
 * @throws service_unavailable while that service has not set up its schema
 */
export async function findRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<RunControlRow[]> {
  try {
    return await tx.rows(findRunsSql, [orgId, runIds]);
  } catch (error) {
    throw orMissingSchema(error, "runs");
  }
}
