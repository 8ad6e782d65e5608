import { sql, type Tx } from "@tidemark/pg";
import type { MetricRow } from "../metrics/aggregates.rules.ts";
import {
  metricColumns,
  metricsOf,
  artifactCountColumns,
  artifactCountsOf,
  type ArtifactCountsRow,
} from "../read/summaries.sql.ts";
import { projectOfRun, runColumns, runOfId, type RunRow } from "../read/runs.sql.ts";

/** An artifact of a run as clients see it; the instant is an RFC 3339 text, `metadata` JSON. */
export type ArtifactRow = {
  readonly id: string;
  readonly runId: string;
  readonly type: string;
  readonly name: string;
  readonly uri: string;
  readonly step: number | null;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly mimeType: string;
  readonly storageBackend: string;
  readonly metadata: string;
  readonly createdAt: string;
};

const findArtifactSql = sql(
  "runs_find_artifact",
  `SELECT id, run_id AS "runId", type, name, uri, step, size_bytes AS "sizeBytes", sha256, mime_type AS "mimeType",
     storage_backend AS "storageBackend", metadata, created_at AS "createdAt"
   FROM artifacts.artifacts_v1 WHERE org_id = $1 AND id = $2`,
);

/** Returns an artifact of the organization. */
export function findArtifact(tx: Tx, orgId: string, artifactId: string): Promise<ArtifactRow | undefined> {
  return tx.one(findArtifactSql, [orgId, artifactId]);
}

/** A run of a chain. */
type OriginRow = {
  /** Place of the requested run, from 1. */
  readonly place: number;
  readonly id: string;
  readonly startedUs: number;
  readonly parentId: string | null;
  readonly forkedFromStep: number | null;
};

/** The columns of the run `o` that a chain needs. */
const columns = `o.id, (extract(epoch FROM o.started_at) * 1000000)::float8 AS started_us, o.parent_run_id, o.forked_from_step`;

const listOriginsSql = sql(
  "runs_list_origins",
  `WITH RECURSIVE chain AS (
     SELECT w.place::int4 AS place, 0 AS depth, r.*
     FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, place)
     CROSS JOIN LATERAL (
       SELECT ${columns} FROM runs.runs o
       WHERE o.org_id = $1 AND o.id = w.id AND ($3::uuid IS NULL OR o.project_id = $3) OFFSET 0
     ) r
     UNION ALL
     SELECT c.place, c.depth + 1, r.*
     FROM chain c
     CROSS JOIN LATERAL (
       SELECT ${columns} FROM runs.runs o
       WHERE o.org_id = $1 AND o.id = c.parent_run_id AND ($3::uuid IS NULL OR o.project_id = $3) OFFSET 0
     ) r
     WHERE c.depth < $4 AND c.forked_from_step IS NOT NULL
   )
   SELECT place, id, started_us AS "startedUs", parent_run_id AS "parentId", forked_from_step AS "forkedFromStep"
   FROM chain ORDER BY place, depth`,
);

/**
 * Returns some runs with their ancestors, as far as they are in the organization and in `projectId` and were forked at a step, at most `depthMax` of each: each
 * run before its parent. Runs that do not exist are left out.
 */
export function listOrigins(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  projectId: string | undefined,
  depthMax: number,
): Promise<OriginRow[]> {
  return tx.rows(listOriginsSql, [orgId, runIds, projectId ?? null, depthMax]);
}

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
