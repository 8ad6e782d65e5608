import {
  METRIC_FIGURES,
  type Column,
  type DocumentColumn,
  type MetricColumn,
  type MetricFigure,
} from "@tidemark/values/run-search";
import { sql, type Tx } from "@tidemark/pg";
import { numbersOf } from "../metrics/aggregates.rules.ts";
import type { Bind } from "../read/runs.sql.ts";
import { attributePaths, placesOf } from "./column.rules.ts";

/** The figures of some metric keys of a run. */
type RunFigures = {
  /** For each key that the run has, its index among the requested keys. */
  readonly places: readonly number[];
  /** For each of them 1 where its newest value is NaN or infinite, else 0. */
  readonly isNonFinite: readonly number[];
} & { readonly [figure in MetricFigure]: readonly number[] };

type FiguresRow = { readonly places: Buffer | null; readonly is_non_finite: Buffer | null } & {
  readonly [figure in MetricFigure]: Buffer | null;
};

const packed = METRIC_FIGURES.map((figure) => `string_agg(float8send(h.${figure}::float8), ''::bytea) AS ${figure}`);

/** Returns SQL for whether the newest value of an aggregate is NaN or infinite. A finite one at the same step counts as newer. */
export const newestIsNonFinite = (aggregate: string): string =>
  `(${aggregate}.non_finite_step IS NOT NULL AND (${aggregate}.count = 0 OR ${aggregate}.non_finite_step > ${aggregate}.latest_step))`;

const readFiguresSql = sql(
  "runs_read_figures",
  `SELECT m.* FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal)
   CROSS JOIN LATERAL (
     SELECT string_agg(float8send(w.place), ''::bytea) AS places, ${packed.join(", ")},
            string_agg(float8send(CASE WHEN ${newestIsNonFinite("h")} THEN 1 ELSE 0 END), ''::bytea) AS is_non_finite
     FROM unnest($3::text[]) WITH ORDINALITY AS w (key, place)
     CROSS JOIN LATERAL (
       SELECT k.latest, k.best, k.min, k.max, k.mean, k.count, k.latest_step, k.non_finite_step FROM ingest.metric_aggregates_v1 k
       WHERE k.org_id = $1 AND k.run_id = chosen.id AND k.key = w.key COLLATE "C" OFFSET 0
     ) h
   ) m
   ORDER BY chosen.ordinal`,
);

/** Returns the figures of metric keys of runs, in the order of `ids`. */
export async function readFigures(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  keys: readonly string[],
): Promise<RunFigures[]> {
  const rows = await tx.rows<FiguresRow>(readFiguresSql, [orgId, ids, keys]);
  return rows.map((row) => {
    const figures = METRIC_FIGURES.map((figure) => [figure, numbersOf(row[figure])]);
    const places = numbersOf(row.places).map((place) => place - 1);
    return {
      places,
      isNonFinite: numbersOf(row.is_non_finite),
      ...(Object.fromEntries(figures) as Omit<RunFigures, "places" | "isNonFinite">),
    };
  });
}

/** The newest value of one of the paths of a run; both are indexes into the requested ids and paths. */
type AttributeValue = {
  readonly run: number;
  readonly place: number;
  /** JSON; null where it has more than `valueBytesMax` bytes, or comes after the first `bytesMax` bytes of all. */
  readonly value: string | null;
  /** Whether it comes after the first `bytesMax` bytes of all. */
  readonly isBeyond: boolean;
};

const readAttributesSql = sql(
  "runs_read_attribute_values",
  `SELECT w.run, w.place, CASE WHEN w.bytes <= $4 AND w.reached <= $5 THEN w.value END AS value, w.reached > $5 AS "isBeyond"
   FROM (
     SELECT v.*, sum(least(v.bytes, $4)) OVER (ORDER BY v.run, v.place) AS reached
     FROM (
       SELECT (chosen.ordinal - 1)::integer AS run, (p.ordinal - 1)::integer AS place, a.value::text AS value, octet_length(a.value::text) AS bytes
       FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal)
       CROSS JOIN unnest($3::text[]) WITH ORDINALITY AS p (path, ordinal)
       CROSS JOIN LATERAL (SELECT o.value FROM ingest.attribute_values_v1 o
                           WHERE o.org_id = $1 AND o.run_id = chosen.id AND o.path = p.path COLLATE "C" ORDER BY o.id DESC LIMIT 1) a
     ) v
   ) w
   ORDER BY w.run, w.place`,
);

/** Returns the newest values of attributes of runs, by run and path, as far as the bounds allow. */
export function readAttributeValues(
  tx: Tx,
  orgId: string,
  ids: readonly string[],
  paths: readonly string[],
  bounds: { readonly valueBytesMax: number; readonly bytesMax: number },
): Promise<AttributeValue[]> {
  return tx.rows(readAttributesSql, [orgId, ids, paths, bounds.valueBytesMax, bounds.bytesMax]);
}

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

/** A key without finite values has only a count. */
function metricValue({ key, figure }: MetricColumn, run: string, bind: Bind): string {
  const isKnown = figure === "count" ? "" : " AND h.count > 0";
  return `SELECT h.${figure}::float8 AS num, ''::text COLLATE "C" AS txt FROM ingest.metric_aggregates_v1 h
          WHERE h.org_id = $1 AND h.run_id = ${run} AND h.key = ${bind(key)} COLLATE "C"${isKnown} OFFSET 0`;
}
