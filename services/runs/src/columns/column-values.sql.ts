import { sql, type Tx } from "@tidemark/pg";
import { numbersOf } from "../metrics/aggregates.rules.ts";
import { METRIC_FIGURES, type MetricFigure } from "./column.rules.ts";

/** The figures of some metric keys of a run. */
export type RunFigures = {
  /** For each key that the run has, its index among the requested keys. */
  readonly places: readonly number[];
} & { readonly [figure in MetricFigure]: readonly number[] };

type FiguresRow = { readonly places: Buffer | null } & { readonly [figure in MetricFigure]: Buffer | null };

const packed = METRIC_FIGURES.map((figure) => `string_agg(float8send(h.${figure}::float8), ''::bytea) AS ${figure}`);

const readFiguresSql = sql(
  "runs_read_figures",
  `SELECT m.* FROM unnest($2::uuid[]) WITH ORDINALITY AS chosen (id, ordinal)
   CROSS JOIN LATERAL (
     SELECT string_agg(float8send(w.place), ''::bytea) AS places, ${packed.join(", ")}
     FROM unnest($3::text[]) WITH ORDINALITY AS w (key, place)
     CROSS JOIN LATERAL (
       SELECT k.latest, k.best, k.min, k.max, k.mean, k.count FROM ingest.metric_aggregates_v1 k
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
    return { places, ...(Object.fromEntries(figures) as Omit<RunFigures, "places">) };
  });
}

/** The newest value of one of the paths of a run; both are indexes into the requested ids and paths. */
export type AttributeValue = {
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
