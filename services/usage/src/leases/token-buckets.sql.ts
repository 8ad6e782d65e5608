import { sql, type Tx } from "@tidemark/pg";

/** A request for tokens of a bucket, with the rate of the bucket. */
export type WantedTokens = {
  readonly orgId: string;
  readonly bucket: string;
  readonly perSecond: number;
  readonly burst: number;
  readonly wanted: number;
};

/** The result of a lease. */
export type LeasedRow = {
  readonly orgId: string;
  readonly bucket: string;
  readonly leased: number;
  /** Remaining tokens, fractions included. */
  readonly left: number;
  /** Requests of the organization in this month. */
  readonly monthRequests: number;
};

// A bucket fills with time; an unused one is full. The order of the rows is the order of their locks, the same for all callers.
const leaseSql = sql(
  "usage_lease_tokens",
  `WITH leased AS (
     INSERT INTO usage.token_buckets AS b (org_id, bucket, tokens, filled_at, leased, per_second, burst, wanted)
     SELECT a.org_id, a.bucket, a.burst - least(a.wanted, floor(a.burst)), clock_timestamp(),
            least(a.wanted, floor(a.burst)), a.per_second, a.burst, a.wanted
     FROM unnest($1::uuid[], $2::text[], $3::float8[], $4::float8[], $5::integer[])
          AS a (org_id, bucket, per_second, burst, wanted)
     ORDER BY a.org_id, a.bucket COLLATE "C"
     ON CONFLICT (org_id, bucket) DO UPDATE SET
       tokens = usage.filled(b, excluded) - least(excluded.wanted, floor(usage.filled(b, excluded))),
       leased = least(excluded.wanted, floor(usage.filled(b, excluded))),
       filled_at = greatest(b.filled_at, excluded.filled_at),
       per_second = excluded.per_second, burst = excluded.burst, wanted = excluded.wanted
     RETURNING b.org_id, b.bucket, b.leased, b.tokens
   )
   SELECT l.org_id AS "orgId", l.bucket, l.leased, l.tokens AS left, coalesce(m.requests, 0) AS "monthRequests",
          to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM') AS month
   FROM leased l
   LEFT JOIN LATERAL (SELECT o.requests FROM usage.month_requests o
                      WHERE o.org_id = l.org_id AND o.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
                      OFFSET 0) m ON true`,
);

/** Takes the wanted tokens out of each bucket, or as many as it has. `workerDb` runs as the worker. Buckets must be distinct. */
export async function leaseFromBuckets(
  workerDb: Tx,
  leases: readonly WantedTokens[],
): Promise<{ readonly rows: readonly LeasedRow[]; readonly month: string }> {
  const rows = await workerDb.rows<LeasedRow & { month: string }>(leaseSql, [
    leases.map(({ orgId }) => orgId),
    leases.map(({ bucket }) => bucket),
    leases.map(({ perSecond }) => perSecond),
    leases.map(({ burst }) => burst),
    leases.map(({ wanted }) => wanted),
  ]);
  return { rows, month: rows[0]?.month ?? "" };
}

const forgetSql = sql(
  "usage_forget_full_buckets",
  `DELETE FROM usage.token_buckets b USING (
     SELECT o.org_id, o.bucket FROM usage.token_buckets o
     WHERE o.filled_at < clock_timestamp() - interval '10 minutes'
       AND o.tokens + extract(epoch FROM clock_timestamp() - o.filled_at) * o.per_second >= o.burst
     ORDER BY o.org_id, o.bucket LIMIT $1
   ) full_ones WHERE b.org_id = full_ones.org_id AND b.bucket = full_ones.bucket
     AND b.filled_at < clock_timestamp() - interval '10 minutes'`,
);

/** Forgets at most `rowsMax` buckets that have been full for a while, which is equivalent to no row. Returns their number. */
export function forgetFullBuckets(workerDb: Tx, rowsMax: number): Promise<number> {
  return workerDb.count(forgetSql, [rowsMax]);
}
