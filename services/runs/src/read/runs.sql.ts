import { sql, type Tx } from "@tidemark/pg";
import { runFields, type RunFields } from "@tidemark/run-state";
import { seenAtOfRun } from "../life/signs-of-life.sql.ts";
import { NO_METRICS, type KeyRange, type MetricRow } from "../metrics/aggregates.rules.ts";
import { metricColumns, metricsOf } from "../metrics/aggregates.sql.ts";
import { artifactCountColumns, artifactCountsOf, type ArtifactCountsRow } from "./artifact-counts.sql.ts";

/** A run as the statements return it; instants are RFC 3339 texts. */
export type RunRow = RunFields<null> & {
  readonly id: string;
  readonly org_id: string;
  readonly project_id: string;
  readonly project: string;
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
     SELECT o.name FROM runs.projects o WHERE o.org_id = r.org_id AND o.id = r.project_id OFFSET 0) p`;

const fieldColumns = Object.keys(runFields)
  .map((name) => `r.${name}`)
  .join(", ");

/** Select list of a `RunRow`, over `runs.runs r` and its project `p`. */
export const runColumns = `
  r.id, r.org_id, r.project_id, p.name AS project, r.name, r.status, r.display_status, r.config, r.tags, r.metadata,
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

const findRunSummarySql = sql(
  "runs_find_run_summary",
  `SELECT ${runColumns}, ${metricColumns}, ${artifactCountColumns}
   FROM runs.runs r
   ${projectOfRun}
   ${metricsOf({ limit: "$4::bigint", from: "$5", end: "$6::text", after: "$7" })}
   ${artifactCountsOf}
   WHERE r.org_id = $1 AND r.id = $2 AND ($3::uuid IS NULL OR r.project_id = $3)`,
);

/** Returns a run with a page of its metric aggregates; undefined when it is not in the organization, or not in `projectId`. */
export function findRunSummary(
  tx: Tx,
  orgId: string,
  runId: string,
  projectId: string | undefined,
  keys: KeyRange & { readonly limit: number },
): Promise<(RunRow & MetricRow & ArtifactCountsRow) | undefined> {
  const { limit, from, end, after } = keys;
  return tx.one(findRunSummarySql, [orgId, runId, projectId ?? null, limit, from, end ?? null, after]);
}

const readSummariesSql = sql(
  "runs_read_summaries",
  `SELECT ${runColumns}, ${metricColumns}, ${artifactCountColumns}
   FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal)
   ${runOfId("chosen.id")}
   ${projectOfRun}
   ${metricsOf({ limit: "$3::bigint" })}
   ${artifactCountsOf}
   ORDER BY chosen.ordinal`,
);

const readWithoutMetricsSql = sql(
  "runs_read_summaries_without_metrics",
  `SELECT ${runColumns}, ${artifactCountColumns}
   FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal)
   ${runOfId("chosen.id")}
   ${projectOfRun}
   ${artifactCountsOf}
   ORDER BY chosen.ordinal`,
);

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

const figure = (column: string): string => `string_agg(float8send(h.${column}), ''::bytea) AS metric_${column}`;

const readWithKeysSql = sql(
  "runs_read_summaries_with_keys",
  `SELECT ${runColumns}, ${artifactCountColumns}, m.*
   FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal)
   ${runOfId("chosen.id")}
   ${projectOfRun}
   ${artifactCountsOf}
   CROSS JOIN LATERAL (
     SELECT string_agg(textsend(h.key), '\\x00'::bytea) AS metric_keys, count(*) AS metric_total,
            ${["latest", "min", "max", "mean", "variance", "count", "best", "best_step"].map(figure).join(", ")}
     FROM unnest($3::text[]) AS wanted (key)
     CROSS JOIN LATERAL (
       -- An aggregate leaves NULL out.
       SELECT k.key, k.latest, k.min, k.max, k.mean, coalesce(k.variance, 'NaN') AS variance, k.count::float8 AS count, k.best, k.best_step
       FROM ingest.metric_aggregates_v1 k
       WHERE k.org_id = r.org_id AND k.run_id = r.id AND k.key = wanted.key COLLATE "C"
       OFFSET 0
     ) h
   ) m
   WHERE $4::uuid IS NULL OR r.project_id = $4
   ORDER BY chosen.ordinal`,
);

/**
 * Returns runs in the order of `ids`, each with the aggregates of the `keys` that it has, in the order of `keys`. Leaves out runs that are not in
 * the organization, or not in `projectId`.
 */
export function readSummariesWithKeys(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  keys: readonly string[],
  projectId: string | undefined,
): Promise<(RunRow & MetricRow & ArtifactCountsRow)[]> {
  return tx.rows(readWithKeysSql, [orgId, ids, keys, projectId ?? null]);
}

/** Returns runs in the order of `ids`, each with its first `metricKeysMax` metric aggregates. */
export async function readSummaries(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  metricKeysMax: number,
): Promise<(RunRow & MetricRow & ArtifactCountsRow)[]> {
  if (ids.length === 0) return [];
  if (metricKeysMax > 0) return tx.rows(readSummariesSql, [orgId, ids, metricKeysMax]);
  const rows = await tx.rows<RunRow & ArtifactCountsRow>(readWithoutMetricsSql, [orgId, ids]);
  return rows.map((row) => ({ ...row, ...NO_METRICS }));
}
