import { sql, type Db } from "@tidemark/pg";

/** A part of a run that a compactor claimed. */
export type WorkItem = {
  readonly orgId: string;
  readonly runId: string;
  /** The unit of compaction: a stream of console logs, a set of keys of rank metrics, empty for metrics. */
  readonly part: string;
  /** Every change made by the work must show it: once the claim is lost, the row has another fence. */
  readonly fence: string;
  /** When the latest dirty marker of the part was taken; RFC 3339. */
  readonly markedAt: string;
  /** How many times in a row the work has failed. */
  readonly failures: number;
};

/** The proof that the claim of a change holds, and the seconds by which the change prolongs the claim. */
export type Claim = { readonly fence: string; readonly leaseSeconds: number };

/** Markers that one transaction takes. */
const MARKERS_MAX = 1000;

const takeMarkers = sql(
  "ingest_take_compaction_marks",
  `DELETE FROM ingest.dirty_markers m
   USING (SELECT org_id, kind, run_id, part, id FROM ingest.dirty_markers
          WHERE kind = ANY ($1::text[]) ORDER BY org_id, kind, run_id, part, id LIMIT $2) taken
   WHERE m.org_id = taken.org_id AND m.kind = taken.kind AND m.run_id = taken.run_id AND m.part = taken.part
     AND m.id = taken.id
   RETURNING m.org_id AS "orgId", m.kind, m.run_id AS "runId", m.part, m.due_at AS "dueAt"`,
);

// Sorted, so that two workers lock the rows in the same order.
const putWork = sql(
  "ingest_put_compaction_work",
  `INSERT INTO ingest.compaction_work AS w (org_id, kind, run_id, part, due_at, marked_at)
   SELECT m.org_id, m.kind, m.run_id, m.part, min(m.due_at), now()
   FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[]) AS m (org_id, kind, run_id, part, due_at)
   GROUP BY m.org_id, m.kind, m.run_id, m.part
   ORDER BY m.org_id, m.kind COLLATE "C", m.run_id, m.part COLLATE "C"
   ON CONFLICT (org_id, kind, run_id, part)
   DO UPDATE SET due_at = least(w.due_at, excluded.due_at), marked_at = excluded.marked_at`,
);

type Marker = { orgId: string; kind: string; runId: string; part: string; dueAt: string };

/** Turns all dirty markers of these kinds into work, in transactions that lose no marker. `db` runs as the worker. */
export async function takeDirtyMarkers(db: Db, kinds: readonly string[]): Promise<void> {
  for (;;) {
    const taken = await db.transaction(async (tx) => {
      const markers = await tx.rows<Marker>(takeMarkers, [kinds, MARKERS_MAX]);
      if (markers.length > 0) {
        const column = (name: keyof Marker) => markers.map((marker) => marker[name]);
        await tx.rows(putWork, [column("orgId"), column("kind"), column("runId"), column("part"), column("dueAt")]);
      }
      return markers.length;
    });
    if (taken < MARKERS_MAX) return;
  }
}

// Claims by update, not by row locks: this also works where rows are spread over many servers, and the claim of a worker that dies runs out.
const claimWork = sql(
  "ingest_claim_compaction_work",
  `UPDATE ingest.compaction_work w SET
     claimed_until = now() + make_interval(secs => $3),
     due_at = now() + make_interval(secs => $3),
     fence = gen_random_uuid()
   FROM (SELECT org_id, run_id, part FROM ingest.compaction_work
         WHERE kind = $1 AND due_at <= now() AND claimed_until <= now() ORDER BY due_at LIMIT $2) due
   WHERE w.kind = $1 AND w.org_id = due.org_id AND w.run_id = due.run_id AND w.part = due.part
     AND w.due_at <= now() AND w.claimed_until <= now()
   RETURNING w.org_id AS "orgId", w.run_id AS "runId", w.part, w.fence, w.marked_at AS "markedAt", w.failures`,
);

/** Claims the parts that have been due longest, each under a new fence. `db` runs as the worker. */
export function claimCompactionWork(
  db: Db,
  kind: string,
  claim: { readonly count: number; readonly leaseSeconds: number },
): Promise<WorkItem[]> {
  return db.rows(claimWork, [kind, claim.count, claim.leaseSeconds]);
}

const releaseWork = sql(
  "ingest_release_compaction",
  "SELECT FROM ingest.release_compaction($1, $2, $3, $4, $5, $6, $7, $8, $9)",
);

/**
 * Ends a claim, if it still holds. With `quietSeconds` the work ends permanently when its last dirty marker is older than that. `db` runs as the
 * worker.
 */
export async function releaseCompactionWork(
  db: Db,
  kind: string,
  item: WorkItem,
  end: { readonly nextSeconds: number; readonly quietSeconds: number | null; readonly failures: number },
): Promise<void> {
  const { orgId, runId, part, fence, markedAt } = item;
  const { nextSeconds, quietSeconds, failures } = end;
  await db.rows(releaseWork, [orgId, kind, runId, part, fence, markedAt, nextSeconds, quietSeconds, failures]);
}

const measureLag = sql(
  "ingest_measure_compaction_lag",
  `SELECT coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS seconds
   FROM ingest.compaction_work WHERE kind = $1 AND due_at <= now()`,
);

/** Returns how many seconds the longest-waiting work has been due; 0 when no work is due. `db` runs as the worker. */
export async function measureCompactionLag(db: Db, kind: string): Promise<number> {
  return (await db.one<{ seconds: number }>(measureLag, [kind]))!.seconds;
}

/**
 * Returns a function that returns about how many rows a table of schema ingest has, across all organizations. PostgreSQL's own count lags by
 * a second. Row level security hides the rows themselves from the worker, and counting them would cost more the more rows wait.
 */
export function rowCounterOf(table: string): (db: Db) => Promise<number> {
  const countRows = sql(
    `ingest_count_rows_of_${table}`,
    `SELECT pg_stat_get_live_tuples('ingest.${table}'::regclass)::float8 AS rows`,
  );
  return async (db) => (await db.one<{ rows: number }>(countRows, []))!.rows;
}
