/** A page of one run's metric aggregates, as the statements return it; null when there are none. */
export type MetricRow = {
  /** The keys in code point order, each ended by a NUL. */
  readonly metric_keys: Buffer | null;
  /** For each key the numbers of `FIGURES`, big-endian doubles. */
  readonly metric_figures: Buffer | null;
  /** How many keys match, those beyond the limit included. */
  readonly metric_total: number;
};

/** The numbers of a key in their order; NaN for a variance that a double cannot hold. */
const FIGURES = ["latest", "min", "max", "mean", "variance", "count", "best", "best_step"] as const;

const figures = FIGURES.map((figure) =>
  figure === "variance" ? "float8send(coalesce(h.variance, 'NaN'))" : `float8send(h.${figure}::float8)`,
).join(" || ");

// As bytes, because the texts of thousands of numbers cost more to write and to read than all else.
const packedKeys = `string_agg(convert_to(h.key, 'UTF8') || '\\x00'::bytea, '')`;

/** Select list of a `MetricRow`, over the `m` that `metricsOf` joins. */
export const metricColumns = "m.keys AS metric_keys, m.figures AS metric_figures, m.total AS metric_total";

/** Of a run that has no metrics, or whose metrics are not asked for. */
export const NO_METRICS: MetricRow = { metric_keys: null, metric_figures: null, metric_total: 0 };

/** Which keys of a run `metricsOf` joins; every part is SQL. */
export type MetricSelection = {
  /** Most keys of a run. */
  readonly limit: string;
  /** Conditions on `h.key` that choose the keys; each begins with AND. */
  readonly matching?: string;
  /** Further conditions that choose the page of them; each begins with AND. */
  readonly page?: string;
  /** Whether the page begins with the first matching key. */
  readonly fromStart: string;
};

/**
 * Joins a page of the metric keys of each run `r`, in code point order, which an aggregate keeps of
 * a sorted subquery. Keys are counted only where the page does not show them all: a run may have a
 * hundred thousand.
 */
export function metricsOf({ limit, matching = "", page = "", fromStart }: MetricSelection): string {
  const heads = `ingest.metric_heads_v1 h WHERE h.org_id = r.org_id AND h.run_id = r.id ${matching}`;
  return `
    CROSS JOIN LATERAL (
      SELECT ${packedKeys} AS keys, string_agg(${figures}, '') AS figures,
             CASE WHEN ${fromStart} AND count(*) < ${limit} THEN count(*) ELSE (SELECT count(*) FROM ${heads}) END AS total
      FROM (SELECT h.* FROM ${heads} ${page} ORDER BY h.key COLLATE "C" LIMIT ${limit}) h
    ) m`;
}

/** The keys of a row. */
export function keysOf({ metric_keys: packed }: MetricRow): string[] {
  // The part after the last NUL is no key.
  return packed === null ? [] : packed.toString("utf8").split("\0").slice(0, -1);
}

/** One column per figure, in the order of the keys. */
export type FigureColumns = Readonly<Record<(typeof FIGURES)[number], number[]>>;

/** The numbers of a row as columns. */
export function figuresOf({ metric_figures: packed }: MetricRow): FigureColumns {
  const bytes = packed ?? Buffer.alloc(0);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.byteLength / (FIGURES.length * 8);
  const column = (place: number): number[] => {
    const values: number[] = [];
    for (let i = 0; i < count; i += 1) values.push(view.getFloat64((i * FIGURES.length + place) * 8));
    return values;
  };
  return Object.fromEntries(FIGURES.map((figure, place) => [figure, column(place)])) as FigureColumns;
}
