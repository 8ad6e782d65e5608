import { sql, sqlState, type Tx } from "@tidemark/pg";
import {
  instantOf,
  rowOfState,
  stateColumnNames,
  stateColumns,
  stateOfRow,
  type RunState,
  type RunStateRow,
} from "@tidemark/run-state";
import { AppError } from "@tidemark/errors";
import type { RunControlRow, ServerSnapshot } from "./live-runs.rules.ts";

// Locks one after another in the given order, so that two transactions never wait for each other forever.
const lockRunsSql = sql(
  "control_lock_runs",
  `SELECT wanted.id, locked.*
   FROM unnest($2::uuid[]) AS wanted (id), LATERAL runs.lock_state_v1($1, wanted.id) AS locked`,
);

/** A run that this transaction has locked. */
type LockedRun = {
  readonly id: string;
  readonly projectId: string;
  readonly state: RunState;
  /** When the lock was obtained: the time of the transition. */
  readonly at: Date;
};

type Row = RunStateRow & { readonly id: string; readonly project_id: string; readonly locked_at: string };

/** Locks runs, in the order of their ids, until the transaction ends; leaves out those that are not in the organization. */
export async function lockRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<LockedRun[]> {
  const rows = await tx.rows<Row>(lockRunsSql, [orgId, runIds.toSorted()]);
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    state: stateOfRow(row),
    at: instantOf(row.locked_at),
  }));
}

const setRunStatesSql = sql(
  "control_set_run_states",
  `SELECT runs.set_state_v1($1, s.id, ${stateColumnNames.map((name) => `s.${name}`).join(", ")})
   FROM unnest($2::uuid[], ${stateColumnNames.map((name, i) => `$${i + 3}::${stateColumns[name]}[]`).join(", ")})
     AS s (id, ${stateColumnNames.join(", ")})`,
);

/** Writes the states of one or more runs that this transaction has locked. */
export async function setRunStates(
  tx: Tx,
  orgId: string,
  changed: readonly { readonly id: string; readonly state: RunState }[],
): Promise<void> {
  const rows = changed.map(({ state }) => rowOfState(state));
  await tx.rows(setRunStatesSql, [
    orgId,
    changed.map(({ id }) => id),
    ...stateColumnNames.map((name) => rows.map((row) => row[name])),
  ]);
}

// The schema, the table or view, the function does not exist.
const missingStates = new Set(["3F000", "42P01", "42883"]);

/** Returns whether a statement failed because a schema, or something in it, does not exist. */
export function isMissingSchema(error: unknown): boolean {
  return missingStates.has(sqlState(error));
}

/**
 * Returns the error to throw when a statement on another service's schema failed with `error`: while that service has not set
 * up its schema, an error that asks the client to try again. `what` begins its text.
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

const readRunningPageSql = sql(
  "control_read_running_page",
  `SELECT snapshot, org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at, stop_acknowledged_at
   FROM runs.running_page_v1($1, $2, $3)`,
);

/** The run after which a page begins. */
type RunPosition = { readonly orgId: string; readonly id: string };

/** The first row of a page has the snapshot, and no run. */
type FeedRow<Run> = { readonly snapshot: ServerSnapshot } & (Run | { readonly id: null });

/** Returns running runs of all organizations by organization and id, at most `limit` after `after`, and the snapshot that saw them. */
export async function readRunningPage(
  tx: Tx,
  page: { readonly after: RunPosition; readonly limit: number },
): Promise<{ snapshot: ServerSnapshot; rows: RunControlRow[] }> {
  const found = await tx.rows<FeedRow<RunControlRow>>(readRunningPageSql, [
    page.after.orgId,
    page.after.id,
    page.limit,
  ]);
  return { snapshot: found[0]!.snapshot, rows: found.filter((row) => row.id !== null) };
}

const readChangedPageSql = sql(
  "control_read_changed_page",
  `SELECT snapshot, changed_xid, org_id, id, project_id, status, stop_state, stop_request_id, stop_requested_at,
          stop_acknowledged_at
   FROM runs.changed_page_v1($1, $2, $3, $4)`,
);

/** The change after which a page begins. */
type ChangePosition = { readonly xid: string; readonly id: string };

/**
 * Returns runs whose last change `since` did not see, at most `limit` after `after`, and the snapshot that saw them;
 * `last` is the position of the last one.
 */
export async function readChangedPage(
  tx: Tx,
  page: { readonly since: ServerSnapshot; readonly after: ChangePosition; readonly limit: number },
): Promise<{ snapshot: ServerSnapshot; rows: RunControlRow[]; last: ChangePosition | undefined }> {
  const { since, after, limit } = page;
  const found = await tx.rows<FeedRow<RunControlRow & { readonly changed_xid: string }>>(readChangedPageSql, [
    since,
    after.xid,
    after.id,
    limit,
  ]);
  const rows = found.filter((row) => row.id !== null);
  const last = rows.at(-1);
  return {
    snapshot: found[0]!.snapshot,
    rows,
    last: last === undefined ? undefined : { xid: last.changed_xid, id: last.id },
  };
}
