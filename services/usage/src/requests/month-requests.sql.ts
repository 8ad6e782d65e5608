import { sql, type Tx } from "@tidemark/pg";

const noteReportSql = sql(
  "usage_note_report",
  `INSERT INTO usage.gateways AS g (gateway_id, sequence, seen_at, has_left) VALUES ($1, $2, clock_timestamp(), $3)
   ON CONFLICT (gateway_id) DO UPDATE
   SET sequence = excluded.sequence, seen_at = excluded.seen_at, has_left = excluded.has_left
   WHERE g.sequence < excluded.sequence`,
);

/** Notes that a gateway is alive and has sent a report. Returns whether the report is new; one of the same number waits for the transaction of the first. */
export async function noteGateway(
  tx: Tx,
  report: { readonly gatewayId: string; readonly sequence: number; readonly leaving: boolean },
): Promise<boolean> {
  return (await tx.count(noteReportSql, [report.gatewayId, report.sequence, report.leaving])) === 1;
}

/** Requests of an organization in a month: YYYY-MM. */
type Count = { readonly orgId: string; readonly month: string; readonly requests: number };

const addSql = sql(
  "usage_add_requests",
  `INSERT INTO usage.month_requests AS m (org_id, month, requests)
   SELECT c.org_id, c.month, sum(c.requests)
   FROM unnest($1::uuid[], $2::date[], $3::bigint[]) AS c (org_id, month, requests)
   GROUP BY c.org_id, c.month ORDER BY c.org_id, c.month
   ON CONFLICT (org_id, month) DO UPDATE SET requests = m.requests + excluded.requests`,
);

/** Adds requests to the months of organizations. */
export async function addRequests(tx: Tx, counts: readonly Count[]): Promise<void> {
  await tx.count(addSql, [
    counts.map(({ orgId }) => orgId),
    counts.map(({ month }) => firstDay(month)),
    counts.map(({ requests }) => requests),
  ]);
}

const totalsSql = sql(
  "usage_read_totals",
  `SELECT m.org_id AS "orgId", to_char(m.month, 'YYYY-MM') AS month, m.requests
   FROM unnest($1::uuid[], $2::date[]) AS c (org_id, month)
   CROSS JOIN LATERAL (SELECT o.* FROM usage.month_requests o WHERE o.org_id = c.org_id AND o.month = c.month OFFSET 0) m`,
);

/** Returns all requests of these organizations and months. */
export function readTotals(tx: Tx, of: readonly Pick<Count, "orgId" | "month">[]): Promise<Count[]> {
  return tx.rows(totalsSql, [of.map(({ orgId }) => orgId), of.map(({ month }) => firstDay(month))]);
}

function firstDay(month: string): string {
  return `${month}-01`;
}

/** Seconds without a report after which a gateway counts as dead. They report every 2 seconds. */
const DEAD_SECONDS = 10;

const countGatewaysSql = sql(
  "usage_count_gateways",
  "SELECT count(*) AS total FROM usage.gateways WHERE NOT has_left AND seen_at > clock_timestamp() - make_interval(secs => $1)",
);

/** Returns how many gateways are alive. */
export async function countGateways(tx: Tx): Promise<number> {
  return (await tx.one<{ total: number }>(countGatewaysSql, [DEAD_SECONDS]))!.total;
}

const forgetSql = sql(
  "usage_forget_gateways",
  `DELETE FROM usage.gateways g USING (
     SELECT o.gateway_id FROM usage.gateways o WHERE o.seen_at < clock_timestamp() - interval '7 days' LIMIT $1
   ) old WHERE g.gateway_id = old.gateway_id`,
);

/** Forgets at most `rowsMax` gateways that ended long before they could send a report again. Returns their number. */
export function forgetGateways(tx: Tx, rowsMax: number): Promise<number> {
  return tx.count(forgetSql, [rowsMax]);
}
