import { sql, type Tx } from "@tidemark/pg";

/** What runs count for. */
export type CopySizes = {
  readonly runs: number;
  /** Values of metrics and of ranks. */
  readonly points: number;
  /** Pairs of run and metric key. */
  readonly series: number;
  readonly events: number;
  readonly artifacts: number;
  /** Logical bytes of all that has no fixed size. */
  readonly bytes: number;
};

const sizesSql = sql(
  "runs_copy_sizes",
  `SELECT r.runs, i.points, i.series, t.events, a.artifacts, (r.bytes + i.bytes + t.bytes + a.bytes)::float8 AS bytes
   FROM (SELECT count(*) AS runs, coalesce(sum(o.bytes), 0) AS bytes FROM unnest($2::uuid[]) AS w (id)
         CROSS JOIN LATERAL (
           SELECT f.bytes + coalesce((SELECT m.bytes FROM runs.readmes m WHERE m.org_id = $1 AND m.run_id = f.id), 0)
                    + coalesce((SELECT sum(d.bytes) FROM runs.run_datasets d WHERE d.org_id = $1 AND d.run_id = f.id), 0) AS bytes
           FROM runs.runs f WHERE f.org_id = $1 AND f.id = w.id OFFSET 0) o) r,
        ingest.copy_sizes_v1($1, $2) i, artifacts.copy_sizes_v1($1, $2) a, traces.copy_sizes_v1($1, $2) t`,
);

/** Returns what copies of runs would count for; a run that is not there counts for nothing. */
export async function readCopySizes(tx: Tx, orgId: string, runIds: readonly string[]): Promise<CopySizes> {
  return (await tx.one<CopySizes>(sizesSql, [orgId, runIds]))!;
}
