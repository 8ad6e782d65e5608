/** The numbers that a column can show of a metric; without a name it is the latest value. */
export const METRIC_FIGURES = ["latest", "best", "min", "max", "mean", "count"] as const;

/** A member of `METRIC_FIGURES`. */
export type MetricFigure = (typeof METRIC_FIGURES)[number];

/** A column that is read from documents: of the config, else of the newest attribute. */
export type DocumentColumn = { readonly kind: "config" | "attributes"; readonly path: string };

/** A column that is read from the key aggregates. */
export type MetricColumn = { readonly kind: "metrics"; readonly key: string; readonly figure: MetricFigure };

/** A column that a table of runs shows next to each run, filters by and sorts by. */
export type Column = DocumentColumn | MetricColumn;

/** Longest name of a column behind its kind, in bytes: as long as the longest path of an attribute with its prefix in `config`. */
export const COLUMN_PATH_BYTES_MAX = 512;

/** Returns whether a path is short enough for the name of a column. */
export function isColumnPath(path: string): boolean {
  // A UTF-16 unit has one to three bytes. Few paths need counting.
  if (path.length * 3 <= COLUMN_PATH_BYTES_MAX || path.length > COLUMN_PATH_BYTES_MAX)
    return path.length <= COLUMN_PATH_BYTES_MAX;
  return new TextEncoder().encode(path).length <= COLUMN_PATH_BYTES_MAX;
}

/**
 * Reads the name of a column: `config.<path>`, `metrics.<key>` with an optional figure behind it, or `attributes.<path>`. The name of a figure
 * wins over a key that ends in it. Returns undefined for another kind, for a name that ends after the kind, that is too long, or that no
 * database could hold.
 */
export function readColumn(name: string): Column | undefined {
  const dot = name.indexOf(".");
  const path = name.slice(dot + 1);
  if (dot === -1 || path === "" || !isColumnPath(path)) return undefined;
  if (!path.isWellFormed() || path.includes("\0")) return undefined;
  const kind = name.slice(0, dot);
  if (kind === "config" || kind === "attributes") return { kind, path };
  return kind === "metrics" ? metricColumn(path) : undefined;
}

function metricColumn(path: string): MetricColumn {
  const dot = path.lastIndexOf(".");
  const figure = METRIC_FIGURES.find((known) => known === path.slice(dot + 1));
  return dot > 0 && figure !== undefined
    ? { kind: "metrics", key: path.slice(0, dot), figure }
    : { kind: "metrics", key: path, figure: "latest" };
}

/** Returns a text that is equal for equal columns. */
export function columnName(column: Column): string {
  return column.kind === "metrics" ? `metrics.${column.key}.${column.figure}` : `${column.kind}.${column.path}`;
}

/** How a filter compares. */
export type Comparison = "<" | "<=" | ">" | ">=" | "=" | "!=";

/** A finite number of at least 2^53, or at most -2^53, by its decimal digits: no double holds all integers there. */
type LongNumber = { readonly digits: string };

/** The operand of a comparison: a number, or a text, which never equals a number. */
export type Operand = number | LongNumber | string;

/** Returns a number in decimal digits, perhaps with an exponent, as an operand. */
export function numberOperand(digits: string): number | LongNumber {
  const number = Number(digits);
  return Math.abs(number) >= 2 ** 53 && Number.isFinite(number) ? { digits } : number;
}

/** A filter of a query: the value of a column, compared with a number or a text. */
export type Filter = { readonly column: Column; readonly comparison: Comparison; readonly operand: Operand };
