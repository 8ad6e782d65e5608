import { binarySql, type Db } from "@tidemark/pg";

/** A run of an organization. */
export type RunOfOrg = { readonly orgId: string; readonly runId: string };

/** An accepted request of metric points. */
export type WaitingMetricRow = {
  /** Its place in the order of arrival. */
  readonly id: number;
  /** Microseconds since the Unix epoch. */
  readonly receivedUs: number;
  readonly ageSeconds: number;
  /** Its landing block. */
  readonly points: Uint8Array;
};

const listWaiting = binarySql(
  "ingest_waiting_metric_rows",
  `SELECT id, received_us AS "receivedUs", age_seconds AS "ageSeconds", points
   FROM ingest.waiting_metric_rows($1, $2, $3, $4)`,
);

/**
 * The landing rows of a run by arrival, up to `rowsMax`, or to the row that takes them to `bytesMax` bytes. No row will come before one that is
 * listed. `db` runs as the worker.
 */
export function listWaitingMetricRows(
  db: Db,
  { orgId, runId }: RunOfOrg,
  bounds: { readonly rowsMax: number; readonly bytesMax: number },
): Promise<WaitingMetricRow[]> {
  return db.rows(listWaiting, [orgId, runId, bounds.rowsMax, bounds.bytesMax]);
}
