import { sql, type Tx } from "@tidemark/pg";

/** A run of a chain. */
export type OriginRow = {
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
