import { exactJson } from "../../../api/exact-json.ts";

/** The figures that a metric can be shown as. */
export const FIGURES = ["latest", "best", "min", "max", "mean", "count"] as const;

/** A figure of a metric. */
export type Figure = (typeof FIGURES)[number];

/** The source of a column: a field of the run, or a key of its documents or metrics. */
export type ColumnSource =
  | { readonly kind: "field"; readonly field: FieldName }
  | { readonly kind: "config" | "attribute"; readonly key: string }
  | { readonly kind: "metric"; readonly key: string; readonly figure: Figure };

const FIELDS = {
  status: { label: "Status", width: 64, sort: "status" },
  created: { label: "Created", width: 92, sort: "created" },
  duration: { label: "Duration", width: 98, sort: "duration" },
  tags: { label: "Tags", width: 150, sort: undefined },
  notes: { label: "Notes", width: 200, sort: undefined },
  id: { label: "Run ID", width: 290, sort: undefined },
} as const;

/** A field of runs that a table can show. */
export type FieldName = keyof typeof FIELDS;

/** The fields of runs that a table can show, in the order of the picker. */
export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[];

/** The default columns. */
export const COLUMNS_USUAL: readonly string[] = ["status", "created", "duration", "tags"];

/** Most columns that the API looks up. */
export const COLUMNS_MAX = 50;

/** Reads the name of a column as addresses and the API have it; undefined if it is not one. */
export function columnSource(name: string): ColumnSource | undefined {
  if (Object.hasOwn(FIELDS, name)) return { kind: "field", field: name as FieldName };
  const key = name.slice(name.indexOf(".") + 1);
  if (key === "" || key.includes(",") || !name.includes(".")) return undefined;
  if (name.startsWith("config.")) return { kind: "config", key };
  if (name.startsWith("attributes.")) return { kind: "attribute", key };
  if (!name.startsWith("metrics.")) return undefined;
  const figure = FIGURES.find((one) => key.endsWith(`.${one}`) && key.length > one.length + 1);
  return figure === undefined
    ? { kind: "metric", key, figure: "latest" }
    : { kind: "metric", key: key.slice(0, -figure.length - 1), figure };
}

/** Returns the name of a column, which `columnSource` reads. Metrics always say their figure, so that one column has one name. */
export function columnName(source: ColumnSource): string {
  if (source.kind === "field") return source.field;
  if (source.kind === "metric") return `metrics.${source.key}.${source.figure}`;
  return `${source.kind === "config" ? "config" : "attributes"}.${source.key}`;
}

/** Whether the API looks a column up. */
export const isLookedUp = (name: string): boolean => {
  const source = columnSource(name);
  return source !== undefined && source.kind !== "field";
};

/** Returns the heading of a column. */
export function columnLabel(name: string): string {
  const source = columnSource(name);
  if (source === undefined) return name;
  if (source.kind === "field") return FIELDS[source.field].label;
  return source.kind === "metric" && source.figure !== "latest" ? `${source.key} (${source.figure})` : source.key;
}

/** Returns the default width of a column. */
export function columnWidth(name: string): number {
  const source = columnSource(name);
  return source?.kind === "field" ? FIELDS[source.field].width : 120;
}

/** The default width of names, and on phones, where they stay while the rest is scrolled. */
export const NAME_WIDTH = { usual: 330, narrow: 224 } as const;

/** A column of states shows words from this width on, and dots below. */
export const STATUS_WORDS_WIDTH = 110;

/** Returns what `sort_by` has to be for a column; undefined where runs cannot be sorted by it. */
export function sortOf(name: string): string | undefined {
  const source = columnSource(name);
  if (name === "name") return "name";
  return source?.kind === "field" ? FIELDS[source.field].sort : source === undefined ? undefined : name;
}

/** Returns which way a column is sorted first: names and states ascend; otherwise the newest, longest and highest are first. */
export const firstDirection = (name: string): "asc" | "desc" =>
  name === "name" || name === "status" || name.startsWith("config.") || name.startsWith("attributes.") ? "asc" : "desc";

/** Writes the value of a column: integers of configs and attributes digit by digit, the rest as `valueWords`. */
const columnWords = (name: string, value: unknown): string =>
  name.startsWith("metrics.") ? valueWords(value) : settingWords(value);

/** A run with the values of columns. */
type Cells = {
  readonly columns?: Readonly<Record<string, unknown>>;
  readonly non_finite_columns?: readonly string[];
};

/** Writes the value of a run in a column: `NaN` where its newest value is not finite, of which the server tells no more. */
export const cellWords = (run: Cells, name: string): string =>
  run.non_finite_columns?.includes(name) === true ? "NaN" : columnWords(name, run.columns?.[name]);

/** As `valueWords`, but integers have every digit: those of a config tell runs apart. */
export const settingWords = (value: unknown): string => (Number.isInteger(value) ? String(value) : valueWords(value));

/** Writes the value of a cell: numbers with at most six digits, documents as JSON. */
export function valueWords(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return numberWords(value);
  return typeof value === "string" ? value : exactJson(value);
}

function numberWords(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9))
    return value
      .toExponential(3)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e");
  return String(Number(value.toPrecision(6)));
}
