import { sql, type Tx } from "@tidemark/pg";
import { NO_METRICS, type KeyRange, type MetricRow, type KeyCountsRow } from "../metrics/aggregates.rules.ts";
import { projectOfRun, runColumns, runOfId, type RunRow } from "./runs.sql.ts";
import { LIST_METRIC_KEYS_MAX } from "@tidemark/limits";

/** How many artifacts of each type a run has. */
export type ArtifactCountsRow = {
  readonly checkpoint_artifacts: number;
  readonly rollout_artifacts: number;
  readonly file_artifacts: number;
};

/** The counts of a run without artifacts. */
export const NO_ARTIFACTS: ArtifactCountsRow = { checkpoint_artifacts: 0, rollout_artifacts: 0, file_artifacts: 0 };

/** Joins the counts of a run `r`: looked up by its key, even where PostgreSQL considers another plan quicker. */
export const artifactCountsOf = `LEFT JOIN LATERAL (
     SELECT o.checkpoints, o.rollouts, o.files FROM artifacts.run_counts_v1 o
     WHERE o.org_id = r.org_id AND o.run_id = r.id OFFSET 0) counts ON true`;

/** Select list of an `ArtifactCountsRow`. */
export const artifactCountColumns = `coalesce(counts.checkpoints, 0) AS checkpoint_artifacts,
  coalesce(counts.rollouts, 0) AS rollout_artifacts, coalesce(counts.files, 0) AS file_artifacts`;

/** Select list of a `MetricRow`, over the join of `metricsOf`. */
export const metricColumns = `
  m.keys AS metric_keys, m.total AS metric_total, m.latest AS metric_latest, m.min AS metric_min, m.max AS metric_max,
  m.mean AS metric_mean, m.variance AS metric_variance, m.count AS metric_count, m.best AS metric_best,
  m.best_step AS metric_best_step, m.latest_step AS metric_latest_step, m.non_finite AS metric_non_finite`;

/** Which keys of a run `metricsOf` joins; every member is SQL. */
type MetricSelection = {
  /** Maximum number of keys of a run. */
  readonly limit: string;
  /** The first key that may be in the page; absent: any. */
  readonly from?: string;
  /** The key before which the page ends, or NULL; absent: no end. */
  readonly end?: string;
  /** The key after which the page begins; absent or empty: the first one. */
  readonly after?: string;
};

/** Returns a join of a page of the metric keys of each run `r`, in code point order, with their aggregates as columns. */
export function metricsOf({ limit, from = "''", end = "NULL::text", after = "''" }: MetricSelection): string {
  return `CROSS JOIN LATERAL ingest.metric_columns_v1(r.org_id, r.id, ${from}, ${end}, ${after}, ${limit}) m`;
}

/** A run with its summary, and whether it is hidden. */
export type RunSummaryRow = RunRow &
  MetricRow &
  ArtifactCountsRow & {
    /** It was deleted, or its project was. */
    readonly hidden: boolean;
    readonly project_purge_after: string | null;
  };

const findRunSummarySql = sql(
  "runs_find_run_summary",
  `SELECT ${runColumns}, r.hidden, p.purge_after AS project_purge_after, ${metricColumns}, ${artifactCountColumns}
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
): Promise<RunSummaryRow | undefined> {
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
            ${["latest", "min", "max", "mean", "variance", "count", "best", "best_step", "latest_step"].map(figure).join(", ")},
            string_agg(float8send(h.non_finite) || float8send(coalesce(h.non_finite_step, 0)), ''::bytea) AS metric_non_finite
     FROM unnest($3::text[]) AS wanted (key)
     CROSS JOIN LATERAL (
       -- An aggregate leaves NULL out.
       SELECT k.key, k.latest, k.min, k.max, k.mean, coalesce(k.variance, 'NaN') AS variance, k.count::float8 AS count, k.best, k.best_step,
              k.latest_step, k.non_finite, k.non_finite_step
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

const keyCountsSql = sql(
  "runs_list_key_counts",
  `SELECT m.keys AS metric_keys, m.count AS metric_count
   FROM unnest($2::uuid[]) AS asked (id)
   ${runOfId("asked.id")}
   ${metricsOf({ limit: String(LIST_METRIC_KEYS_MAX) })}`,
);

/** Returns how many points the first 250 keys of each run have: all keys of runs that have thousands would cost too much. */
export function listKeyCounts(tx: Tx, orgId: string, ids: readonly string[]): Promise<KeyCountsRow[]> {
  return tx.rows(keyCountsSql, [orgId, ids]);
}
