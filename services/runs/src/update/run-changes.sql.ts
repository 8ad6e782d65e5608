import { sql, type Tx } from "@tidemark/pg";
import {
  appendLifecycle,
  applyRunEvent,
  instantOf,
  instantText,
  rowOfState,
  stateColumnNames,
  stateColumns,
  stateOfRow,
  type RunEvent,
  type RunState,
  type RunStateRow,
} from "@tidemark/run-state";
import { runOfId, type LifecycleRow } from "../read/runs.sql.ts";

/** A run that this transaction has locked. */
export type LockedRun = {
  readonly id: string;
  readonly projectId: string;
  readonly state: RunState;
  readonly lifecycle: readonly LifecycleRow[];
  /** When the lock was obtained: the time of a transition. */
  readonly at: Date;
};

type LockedRow = RunStateRow & {
  readonly id: string;
  readonly project_id: string;
  readonly lifecycle: string;
  readonly locked_at: string;
};

// One after another in the given order, so that two transactions never wait for each other forever.
const lockRunStatesSql = sql(
  "runs_lock_run_states",
  `SELECT wanted.id, locked.* FROM unnest($2::uuid[]) AS wanted (id), LATERAL runs.lock_state_v1($1, wanted.id) AS locked`,
);

/** Locks runs, in the order of their ids, until the transaction ends; leaves out those that are not in the organization. */
export async function lockRunStates(tx: Tx, orgId: string, runIds: readonly string[]): Promise<LockedRun[]> {
  const rows = await tx.rows<LockedRow>(lockRunStatesSql, [orgId, runIds.toSorted()]);
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    lifecycle: JSON.parse(row.lifecycle) as LifecycleRow[],
    at: instantOf(row.locked_at),
    state: stateOfRow(row),
  }));
}

/** Locks a run until the transaction ends and returns its state; undefined when it is not in the organization. */
export async function lockRunState(tx: Tx, orgId: string, runId: string): Promise<LockedRun | undefined> {
  return (await lockRunStates(tx, orgId, [runId]))[0];
}

const setRunStatesSql = sql(
  "runs_set_run_states",
  `SELECT runs.set_state_v1($1, s.id, ${stateColumnNames.map((name) => `s.${name}`).join(", ")}, s.lifecycle)
   FROM unnest($2::uuid[], $3::jsonb[], ${stateColumnNames.map((name, i) => `$${i + 4}::${stateColumns[name]}[]`).join(", ")})
     AS s (id, lifecycle, ${stateColumnNames.join(", ")})`,
);

/** Applies an event to runs that this transaction has locked, and writes the states that changed. */
export async function moveRuns(tx: Tx, orgId: string, locked: readonly LockedRun[], event: RunEvent): Promise<void> {
  const changed = locked.flatMap((run) => {
    const moved = applyRunEvent(run.state, event, run.at);
    return moved.changed
      ? [{ ...run, row: rowOfState(moved.state), lifecycle: lifecycleAfter(run, moved.lifecycle) }]
      : [];
  });
  if (changed.length === 0) return;
  // Every transaction locks the counters of projects in the same order.
  const sorted = changed.toSorted((a, b) => (a.projectId < b.projectId ? -1 : Number(a.projectId > b.projectId)));
  await tx.rows(setRunStatesSql, [
    orgId,
    sorted.map(({ id }) => id),
    sorted.map(({ lifecycle }) => lifecycle),
    ...stateColumnNames.map((name) => sorted.map(({ row }) => row[name])),
  ]);
}

/** Returns the entries as JSON; null leaves the existing entries. */
function lifecycleAfter(run: LockedRun, entry: ReturnType<typeof applyRunEvent>["lifecycle"]): string | null {
  if (entry === null) return null;
  const { statusFrom, statusTo, at, kind } = entry;
  return JSON.stringify(
    appendLifecycle(run.lifecycle, { status_from: statusFrom, status_to: statusTo, at: instantText(at), kind }),
  );
}

const setTagsSql = sql("runs_set_tags", "UPDATE runs.runs SET tags = $3 WHERE org_id = $1 AND id = ANY ($2::uuid[])");

/** Replaces the tags of runs that this transaction has locked. */
export async function setTags(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  tags: readonly string[],
): Promise<void> {
  await tx.count(setTagsSql, [orgId, runIds, tags]);
}

const updateRunDocumentsSql = sql(
  "runs_update_run_documents",
  `UPDATE runs.runs SET tags = coalesce($3, tags), metadata = coalesce($4, metadata), name = coalesce($5, name),
     config = coalesce($6, config)
   WHERE org_id = $1 AND id = $2`,
);

/** Replaces name, tags, metadata and config of a locked run; undefined leaves them. */
export async function updateRunDocuments(
  tx: Tx,
  orgId: string,
  runId: string,
  changes: {
    readonly name: string | undefined;
    readonly tags: readonly string[] | undefined;
    readonly metadata: string | undefined;
    readonly config: string | undefined;
  },
): Promise<void> {
  await tx.count(updateRunDocumentsSql, [
    orgId,
    runId,
    changes.tags ?? null,
    changes.metadata ?? null,
    changes.name ?? null,
    changes.config ?? null,
  ]);
}

/** The metadata of a run, as canonical JSON. */
type MetadataRow = { readonly id: string; readonly metadata: string };

const listMetadataSql = sql(
  "runs_list_metadata",
  `SELECT r.id, r.metadata FROM unnest($2::uuid[]) AS asked (id) ${runOfId("asked.id")}`,
);

/** Returns the metadata of runs of the organization. */
export function listMetadata(tx: Tx, orgId: string, runIds: readonly string[]): Promise<MetadataRow[]> {
  return tx.rows(listMetadataSql, [orgId, runIds]);
}

const setMetadataSql = sql(
  "runs_set_metadata",
  `UPDATE runs.runs r SET metadata = w.metadata FROM unnest($2::uuid[], $3::text[]) AS w (id, metadata)
   WHERE r.org_id = $1 AND r.id = w.id AND r.id = ANY ($2::uuid[])`,
);

/** Replaces the metadata of runs that this transaction has locked. */
export async function setMetadata(tx: Tx, orgId: string, rows: readonly MetadataRow[]): Promise<void> {
  await tx.count(setMetadataSql, [orgId, rows.map(({ id }) => id), rows.map(({ metadata }) => metadata)]);
}
