import type { Bind } from "../search/parameters.sql.ts";
import { attributePaths, placesOf, type Column, type DocumentColumn, type MetricColumn } from "./column.rules.ts";

/**
 * Returns SQL of the value of a document column as `json`, null where a run has none: of the config, else of the newest attribute. `run` is SQL of
 * the id of a run of the organization $1. All SQL consists of constants; names go through `bind`.
 */
function documentValue(column: DocumentColumn, run: string, bind: Bind): string {
  const attributes = attributePaths(column).map(
    (path) => `(SELECT a.value FROM ingest.attribute_values_v1 a
                WHERE a.org_id = $1 AND a.run_id = ${run} AND a.path = ${bind(path)} COLLATE "C" ORDER BY a.id DESC LIMIT 1)`,
  );
  if (column.kind === "attributes") return attributes.join("");
  const config = `(SELECT runs.config_value(o.config, ${bind(placesOf(column))}::text[]) FROM runs.runs o
                   WHERE o.org_id = $1 AND o.id = ${run} OFFSET 0)`;
  return `coalesce(${[config, ...attributes].join(", ")})`;
}

/**
 * Returns SQL that selects the comparable value of a column, `num` and `txt`, of the run `run`; no row where the run has none. Texts have NaN as
 * `num`, numbers an empty `txt`, so that ordered by both, numbers come before texts.
 */
export function comparableValue(column: Column, run: string, bind: Bind): string {
  if (column.kind === "metrics") return metricValue(column, run, bind);
  return `SELECT c.num, c.txt COLLATE "C" AS txt FROM runs.comparable(${documentValue(column, run, bind)}) c WHERE c.num IS NOT NULL OFFSET 0`;
}

function metricValue({ key, figure }: MetricColumn, run: string, bind: Bind): string {
  return `SELECT h.${figure}::float8 AS num, ''::text COLLATE "C" AS txt FROM ingest.metric_aggregates_v1 h
          WHERE h.org_id = $1 AND h.run_id = ${run} AND h.key = ${bind(key)} COLLATE "C" OFFSET 0`;
}
