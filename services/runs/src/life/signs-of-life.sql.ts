import { sql, type Tx } from "@tidemark/pg";

/** A run that wrote or polled. */
export type Sign = {
  readonly orgId: string;
  readonly runId: string;
  /** RFC 3339. */
  readonly seenAt: string;
};

const recordSql = sql("runs_record_signs_of_life", "SELECT runs.record_signs_of_life($1, $2, $3)");

/** Records signs of runs of any organizations, in one statement. Skips runs that the organization does not have; an older sign changes nothing. */
export async function recordSigns(tx: Tx, signs: readonly Sign[]): Promise<void> {
  await tx.rows(recordSql, [
    signs.map(({ orgId }) => orgId),
    signs.map(({ runId }) => runId),
    signs.map(({ seenAt }) => seenAt),
  ]);
}

const noteSignsSql = sql(
  "runs_note_signs_of_life",
  `INSERT INTO runs.signs_of_life AS s (org_id, run_id, seen_at) SELECT $1, w.id, $3 FROM unnest($2::uuid[]) AS w (id)
   ON CONFLICT (org_id, run_id) DO UPDATE SET seen_at = excluded.seen_at WHERE s.seen_at < excluded.seen_at`,
);

/** Records a sign of runs that this transaction has locked. `seenAt` is RFC 3339. */
export async function recordHeartbeats(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  seenAt: string,
): Promise<void> {
  if (runIds.length > 0) await tx.rows(noteSignsSql, [orgId, runIds, seenAt]);
}

/** Returns SQL of when the run with this alias last gave a sign; null where that was at its creation or resume. Looked up by its key. */
const seenAt = (run: string): string =>
  `(SELECT s.seen_at FROM runs.signs_of_life s WHERE s.org_id = ${run}.org_id AND s.run_id = ${run}.id OFFSET 0)`;

/** The same for the run `r`. */
export const seenAtOfRun = seenAt("r");

const lastSeen = (run: string): string => `greatest(${run}.created_at, ${run}.resumed_at, ${seenAt(run)})`;

/**
 * Returns the condition that a run of runs.runs, as `r`, or of the searched texts, as `t`, is stale: it is running, and it gave no sign since
 * `before`, an SQL expression. The texts do not have these times, so the run is looked up by its key.
 */
export function staleCondition(alias: "r" | "t", before: string): string {
  const last =
    alias === "r"
      ? lastSeen("r")
      : `(SELECT ${lastSeen("o")} FROM runs.runs o WHERE o.org_id = $1 AND o.id = t.run_id OFFSET 0)`;
  return `(${alias}.status = 'running' AND ${last} < ${before}::timestamptz)`;
}
