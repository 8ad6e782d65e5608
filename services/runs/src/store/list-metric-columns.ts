import { sql, type Tx } from "@tidemark/pg";
import { COMPARED_FIGURES, type MetricColumns } from "../domain/compare-metrics.ts";

type MetricColumnsRow = {
  /** The keys, each ended by a NUL; null for the same as in the row before. */
  readonly keys: Buffer | null;
} & {
  /** Big-endian doubles; null when there are none. */
  readonly [figure in (typeof COMPARED_FIGURES)[number]]: Buffer | null;
};

// As bytes and column by column: of thousands of numbers, the texts would cost more than all else.
// Runs of one program mostly have the same keys, which then are sent once.
const listMetricColumnsSql = sql(
  "runs_list_metric_columns",
  `SELECT CASE WHEN m.keys IS DISTINCT FROM lag(m.keys) OVER (ORDER BY m.place) THEN m.keys END AS keys,
          ${COMPARED_FIGURES.map((figure) => `m.${figure}`).join(", ")}
   FROM (
     SELECT asked.place, page.*
     FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, place)
     CROSS JOIN LATERAL (
       SELECT coalesce(string_agg(textsend(h.key), '\\x00'::bytea) || '\\x00'::bytea, '') AS keys,
              ${COMPARED_FIGURES.map((figure) => `string_agg(float8send(h.${figure}), '') AS ${figure}`).join(", ")}
       FROM (SELECT h.key, ${COMPARED_FIGURES.map((figure) => `h.${figure}`).join(", ")} FROM ingest.metric_heads_v1 h
             WHERE h.org_id = $1 AND h.run_id = asked.id AND h.key COLLATE "C" > $3
             ORDER BY h.key COLLATE "C" LIMIT $4::bigint) h
     ) page
   ) m
   ORDER BY m.place`,
);

/**
 * The next `limit` metric keys of each run after the key `after`, in code point order, with what is
 * compared of them. Neighbours with the same keys share one list of them.
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
    // The part after the last NUL is no key.
    if (row.keys !== null) keys = row.keys.toString("utf8").split("\0").slice(0, -1);
    const figures = COMPARED_FIGURES.map((figure) => [figure, doublesOf(row[figure])]);
    return { keys, ...(Object.fromEntries(figures) as Omit<MetricColumns, "keys">) };
  });
}

function doublesOf(bytes: Buffer | null): Float64Array {
  if (bytes === null) return new Float64Array();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const numbers = new Float64Array(bytes.byteLength / 8);
  for (let i = 0; i < numbers.length; i += 1) numbers[i] = view.getFloat64(i * 8);
  return numbers;
}
