import { sql, type Tx } from "@tidemark/pg";
import { runFields, type RunFields } from "@tidemark/run-state";
import { seenAtOfRun } from "../life/signs-of-life.sql.ts";
import { bytesOfReadme } from "../readme/readmes.sql.ts";

/** A run as the statements return it; instants are RFC 3339 texts. */
export type RunRow = RunFields<null> & {
  readonly id: string;
  readonly org_id: string;
  readonly project_id: string;
  readonly project: string;
  readonly project_number: number;
  readonly name: string;
  readonly status: string;
  readonly display_status: string;
  readonly config: string;
  readonly tags: string[];
  readonly metadata: string;
  readonly created_at: string;
  readonly started_at: string;
  readonly resume_count: number;
  /** The last write or poll that was reported. */
  readonly seen_at: string | null;
  /** JSON, see `LifecycleRow`. */
  readonly lifecycle: string;
  readonly create_fingerprint: Uint8Array | null;
  readonly stop_state: string;
  readonly stop_request_id: string | null;
  readonly stop_reason: string | null;
  readonly stop_completion_message: string | null;
  readonly stop_actor: string | null;
  readonly stop_requested_at: string | null;
  readonly stop_acknowledged_at: string | null;
  readonly stop_completed_at: string | null;
  readonly stop_updated_at: string | null;
  /** When the run itself was deleted. */
  readonly deleted_at: string | null;
  readonly purge_after: string | null;
};

/** One entry of the column `lifecycle`. */
export type LifecycleRow = {
  readonly status_from: string;
  readonly status_to: string;
  readonly at: string;
  readonly kind: string;
};

/** Joins the run `r` whose id is the given SQL, if the organization $1 has it: looked up by its key, even where PostgreSQL considers another plan quicker. */
export function runOfId(id: string): string {
  return `CROSS JOIN LATERAL (SELECT o.* FROM runs.runs o WHERE o.org_id = $1 AND o.id = ${id} OFFSET 0) r`;
}

/** Joins the project `p` of a run `r`, in the same way. */
export const projectOfRun = `CROSS JOIN LATERAL (
     SELECT o.name, o.number, o.purge_after FROM runs.projects o WHERE o.org_id = r.org_id AND o.id = r.project_id OFFSET 0) p`;

/** Adds a value to a statement and returns its parameter, `$n`. */
export type Bind = (value: unknown) => string;

/** Starts the values of a statement whose `$1` is the organization; `bind` adds to them. */
export function parameters(orgId: string): { readonly values: unknown[]; readonly bind: Bind } {
  const values: unknown[] = [orgId];
  return { values, bind: (value) => `$${values.push(value)}` };
}

const fieldColumns = Object.keys(runFields)
  .map((name) => `r.${name}`)
  .join(", ");

/** Select list of a `RunRow`, over `runs.runs r` and its project `p`. */
export const runColumns = `
  r.id, r.org_id, r.project_id, p.name AS project, p.number AS project_number, r.name, r.status, r.display_status, r.config, r.tags, r.metadata,
  r.created_at, r.started_at, ${fieldColumns}, r.resume_count, r.lifecycle, r.create_fingerprint, r.stop_state, r.stop_request_id, r.stop_reason,
  r.stop_completion_message, r.stop_actor, r.stop_requested_at, r.stop_acknowledged_at, r.stop_completed_at,
  r.stop_updated_at, r.deleted_at, r.purge_after, ${seenAtOfRun} AS seen_at`;

const findRunSql = sql(
  "runs_find_run",
  `SELECT ${runColumns}
   FROM runs.runs r
   ${projectOfRun}
   WHERE r.org_id = $1 AND r.id = $2 AND ($3::uuid IS NULL OR r.project_id = $3)`,
);

/** Returns a run without its metrics; undefined when it is not in the organization, or not in `projectId`. */
export function findRun(
  tx: Tx,
  orgId: string,
  runId: string,
  projectId: string | undefined,
): Promise<RunRow | undefined> {
  return tx.one(findRunSql, [orgId, runId, projectId ?? null]);
}

/** Returns a run that the transaction knows to exist. @throws Error when it is missing, which is a fault in the database */
export async function requireRun(tx: Tx, orgId: string, runId: string): Promise<RunRow> {
  const row = await findRun(tx, orgId, runId, undefined);
  if (row === undefined) throw new Error("a run that must exist is missing");
  return row;
}

const listRunsByIdSql = sql(
  "runs_list_runs_by_id",
  `SELECT ${runColumns}
   FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
   ${runOfId("asked.id")}
   ${projectOfRun}
   WHERE $3::uuid IS NULL OR r.project_id = $3
   ORDER BY asked.ordinal`,
);

/** Returns runs without their metrics, in the order of `runIds`, and leaves out those that are not in the organization, or not in `projectId`. */
export function listRunsById(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  projectId: string | undefined,
): Promise<RunRow[]> {
  return tx.rows(listRunsByIdSql, [orgId, runIds, projectId ?? null]);
}

const countVisibleSql = sql(
  "runs_count_visible",
  `SELECT count(*) AS runs FROM unnest($2::uuid[]) AS asked (id) ${runOfId("asked.id")} WHERE $3::uuid IS NULL OR r.project_id = $3`,
);

/** Returns how many of these runs are in the organization, and in `projectId` if there is one. */
export async function countVisibleRuns(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  projectId: string | undefined,
): Promise<number> {
  return (await tx.one<{ runs: number }>(countVisibleSql, [orgId, ids, projectId ?? null]))?.runs ?? 0;
}

/** A run and its project. */
export type RefRow = { readonly id: string; readonly projectId: string };

const listRefsSql = sql(
  "runs_list_refs",
  `SELECT r.id, r.project_id AS "projectId"
   FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
   ${runOfId("asked.id")}
   WHERE $3::uuid IS NULL OR r.project_id = $3
   ORDER BY asked.ordinal`,
);

/** Returns runs with their projects, in the order of `ids`, and leaves out those that are not in the organization, or not in `projectId`. */
export function listRefsById(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  projectId: string | undefined,
): Promise<RefRow[]> {
  return tx.rows(listRefsSql, [orgId, ids, projectId ?? null]);
}

/** Bytes of documents that one statement returns, in addition to those of one run at most. */
const PAGE_BYTES = 4 * 1024 * 1024;
const PAGE_ROWS = 100;

/** A run of an export: the oldest first, so that forks come after their parents. */
type Place = { readonly createdAt: string; readonly id: string };

const listOfProject = sql(
  "runs_export_of_project",
  `SELECT ${runColumns}
   FROM (SELECT f.id, sum(f.bytes) OVER (ORDER BY f.created_at, f.id) - f.bytes AS before
         FROM (SELECT o.id, o.created_at, octet_length(o.config) + octet_length(o.metadata) + ${bytesOfReadme("o")} AS bytes FROM runs.runs o
               WHERE o.org_id = $1 AND o.project_id = $2 AND (o.created_at, o.id) > ($3::timestamptz, $4::uuid)
               ORDER BY o.created_at, o.id LIMIT ${PAGE_ROWS}) f) w
   CROSS JOIN LATERAL (SELECT o.* FROM runs.runs o WHERE o.org_id = $1 AND o.id = w.id OFFSET 0) r
   ${projectOfRun}
   WHERE w.before < ${PAGE_BYTES} ORDER BY r.created_at, r.id`,
);

/** Reads all runs of a project, the oldest first. */
export async function* readRunsOfProject(
  tx: Tx,
  orgId: string,
  projectId: string,
): AsyncGenerator<RunRow[], void, undefined> {
  let after: Place = { createdAt: "-infinity", id: "00000000-0000-0000-0000-000000000000" };
  for (;;) {
    const rows = await tx.rows<RunRow>(listOfProject, [orgId, projectId, after.createdAt, after.id]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = { createdAt: last.created_at, id: last.id };
  }
}
