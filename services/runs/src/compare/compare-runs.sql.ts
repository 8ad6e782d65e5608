import { sql, type Tx } from "@tidemark/pg";
import { numbersOf } from "../metrics/aggregates.rules.ts";
import { newestIsNonFinite } from "../columns/column-values.sql.ts";
import { COMPARED_FIGURES, type AttributeCell, type MetricColumns } from "./page-rows.rules.ts";

type MetricColumnsRow = {
  /** The keys, each followed by NUL; null when they are those of the row before. */
  readonly keys: Buffer | null;
  /** Null where no newest value is NaN or infinite. */
  readonly non_finite_step: Buffer | null;
} & {
  /** Big-endian doubles; null when the run has no keys. */
  readonly [figure in (typeof COMPARED_FIGURES)[number]]: Buffer | null;
};

// Numbers are sent as bytes, column by column, because thousands of numbers as text would cost more than
// everything else. Runs of one program mostly have the same keys, which are then sent once.
const listMetricColumnsSql = sql(
  "runs_list_metric_columns",
  `SELECT CASE WHEN m.keys IS DISTINCT FROM lag(m.keys) OVER (ORDER BY m.ordinal) THEN m.keys END AS keys,
          ${COMPARED_FIGURES.map((figure) => `m.${figure}`).join(", ")}, m.non_finite_step
   FROM (
     SELECT asked.ordinal, page.*
     FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
     CROSS JOIN LATERAL (
       SELECT coalesce(string_agg(textsend(h.key), '\\x00'::bytea) || '\\x00'::bytea, '') AS keys,
              ${COMPARED_FIGURES.map((figure) => `string_agg(float8send(h.${figure}), '') AS ${figure}`).join(", ")},
              CASE WHEN bool_or(${newestIsNonFinite("h")}) THEN
                string_agg(float8send(CASE WHEN ${newestIsNonFinite("h")} THEN h.non_finite_step ELSE 'NaN' END), '') END AS non_finite_step
       FROM (SELECT h.key, ${COMPARED_FIGURES.map((figure) => `h.${figure}`).join(", ")}, h.count, h.latest_step, h.non_finite_step FROM ingest.metric_aggregates_v1 h
             WHERE h.org_id = $1 AND h.run_id = asked.id AND h.key COLLATE "C" > $3
             ORDER BY h.key COLLATE "C" LIMIT $4::bigint) h
     ) page
   ) m
   ORDER BY m.ordinal`,
);

/**
 * Returns the next `limit` metric keys of each run after the key `after`, in code point order, with the
 * compared numbers. Neighbors with the same keys share one list of them.
 */
export async function listMetricColumns(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  page: { readonly after: string; readonly limit: number },
): Promise<MetricColumns[]> {
  const rows = await tx.rows<MetricColumnsRow>(listMetricColumnsSql, [orgId, runIds, page.after, page.limit]);
  let keys: readonly string[] = [];
  return rows.map((row) => {
    // The part after the last NUL is not a key.
    if (row.keys !== null) keys = row.keys.toString("utf8").split("\0").slice(0, -1);
    const figures = COMPARED_FIGURES.map((figure) => [figure, numbersOf(row[figure])]);
    return {
      keys,
      nonFiniteStep: numbersOf(row.non_finite_step),
      ...(Object.fromEntries(figures) as Omit<MetricColumns, "keys" | "nonFiniteStep">),
    };
  });
}

const listNewestAttributesSql = sql(
  "runs_list_newest_attributes",
  "SELECT index AS ordinal, path, value FROM ingest.newest_attributes_v1($1, $2, $3, $4, $5, $6)",
);

/**
 * Returns a page of the attributes of runs after the path `after`, by run and path: at most `rowsEach`
 * paths and about `bytesEach` bytes of each run, and at most `bytesAll` bytes of all runs.
 */
export function listNewestAttributes(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  page: {
    readonly after: string;
    readonly rowsEach: number;
    readonly bytesEach: number;
    readonly bytesAll: number;
  },
): Promise<AttributeCell[]> {
  return tx.rows(listNewestAttributesSql, [orgId, runIds, page.after, page.rowsEach, page.bytesEach, page.bytesAll]);
}
