import { sql, type Tx } from "@tidemark/pg";
import type { MetricRow } from "../metrics/aggregates.rules.ts";
import { metricColumns, metricsOf } from "../metrics/aggregates.sql.ts";
import { projectOfRun, runColumns, runOfId, type RunRow } from "../read/runs.sql.ts";
import { artifactCountColumns, artifactCountsOf, type ArtifactCountsRow } from "../read/artifact-counts.sql.ts";

/** A run of a lineage and its relation to the requested run. */
type RelativeRow = RunRow &
  MetricRow &
  ArtifactCountsRow & {
    readonly relation: "run" | "parent" | "child";
    /** The number of all children of that run; the same in every row. */
    readonly children_total: number;
  };

const visible = "r.org_id = $1 AND ($3::uuid IS NULL OR r.project_id = $3)";

const listRelativesSql = sql(
  "runs_list_relatives",
  `WITH run AS (
     SELECT r.id, r.parent_run_id FROM runs.runs r WHERE ${visible} AND r.id = $2
   ), relatives AS (
     SELECT 'run' AS relation, 0 AS ordinal, run.id FROM run
     UNION ALL
     SELECT 'parent', 1, r.id FROM run ${runOfId("run.parent_run_id")} WHERE ${visible}
     UNION ALL
     SELECT 'child', 2, children.id
     FROM run CROSS JOIN LATERAL (
       SELECT r.id FROM runs.runs r WHERE ${visible} AND r.parent_run_id = run.id
       ORDER BY r.created_at DESC, r.id DESC LIMIT $4::bigint
     ) children
   )
   SELECT ${runColumns}, ${metricColumns}, ${artifactCountColumns}, relatives.relation,
          (SELECT count(*) FROM runs.runs r WHERE ${visible} AND r.parent_run_id = $2) AS children_total
   FROM relatives
   ${runOfId("relatives.id")}
   ${projectOfRun}
   ${metricsOf({ limit: "$5::bigint" })}
   ${artifactCountsOf}
   ORDER BY relatives.ordinal, r.created_at DESC, r.id DESC`,
);

/**
 * Returns a run, its parent and its newest children, in this order, each with its first metric aggregates,
 * in one statement; nothing when the run is not in the organization, or not in `projectId`. Relatives
 * outside `projectId` are left out and not counted.
 */
export function listRelatives(
  tx: Tx,
  orgId: string,
  runId: string,
  projectId: string | undefined,
  limits: { readonly children: number; readonly metricKeys: number },
): Promise<RelativeRow[]> {
  return tx.rows(listRelativesSql, [orgId, runId, projectId ?? null, limits.children, limits.metricKeys]);
}

const findForkFingerprintSql = sql(
  "runs_find_fork_fingerprint",
  "SELECT fork_fingerprint FROM runs.runs WHERE org_id = $1 AND id = $2",
);

/**
 * Returns the fingerprint of the keyed fork request that created a run: null for a run that was created
 * otherwise, undefined when the run is not in the organization.
 */
export async function findForkFingerprint(
  tx: Tx,
  orgId: string,
  runId: string,
): Promise<Uint8Array | null | undefined> {
  const row = await tx.one<{ fork_fingerprint: Uint8Array | null }>(findForkFingerprintSql, [orgId, runId]);
  return row?.fork_fingerprint;
}

const readClockSql = sql("runs_read_clock", "SELECT clock_timestamp() AS at");

/** Returns the time of the database, the one clock of all processes, as an RFC 3339 text. */
export async function readClock(tx: Tx): Promise<string> {
  const row = await tx.one<{ at: string }>(readClockSql, []);
  if (row === undefined) throw new Error("the database returned no time");
  return row.at;
}
