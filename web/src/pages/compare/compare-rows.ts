import { csvCell, type CsvValue } from "@tidemark/values/csv";
import { exactJson } from "../../api/exact-json.ts";

/** A row as the API compares runs. */
export type SideBySideRow = { readonly path: string; readonly values: Readonly<Record<string, unknown>> };

/** Parts of a comparison, in the order in which they are shown. */
const PARTS = ["Config", "Metrics", "Attributes", "Tags", "Environment"] as const;

/** One line of a comparison. */
export type CompareRow = {
  readonly part: (typeof PARTS)[number];
  /** The key, nested names joined by points. */
  readonly label: string;
  /** In the order of the runs; undefined where a run has none. */
  readonly values: readonly unknown[];
  readonly different: boolean;
  /** The key of a metric. */
  readonly metric?: string;
};

const OF_PREFIX: Readonly<Record<string, CompareRow["part"]>> = {
  config: "Config",
  metric: "Metrics",
  attribute: "Attributes",
  tag: "Tags",
  metadata: "Environment",
};

/** Nested deeper, a value is shown as a document. */
const DEPTH_MAX = 12;

/** The figures of metrics that a comparison can show. */
export const COMPARED_FIGURES = ["latest", "best", "min", "max", "mean"] as const;

/** A member of `COMPARED_FIGURES`. */
export type ComparedFigure = (typeof COMPARED_FIGURES)[number];

/** Figures that the API does not compare: they are read of each run. */
export const isOfEachRun = (figure: ComparedFigure): boolean => figure === "best" || figure === "min";

/** The figures of the metrics of a run. */
export type RunFigures = Readonly<Record<string, Readonly<Record<ComparedFigure, number | null>>>>;

/**
 * Makes lines of the rows of the API: nested documents have a line for each value in them, metrics one with the `figure`, of which `ofEach` has those
 * of `isOfEachRun` in the order of the runs. A run whose newest value is NaN or infinite has `NaN` as its latest. Lines in which runs differ are first.
 */
export function compareRows(
  rows: readonly SideBySideRow[],
  runIds: readonly string[],
  figure: ComparedFigure = "latest",
  ofEach: readonly (RunFigures | undefined)[] = [],
): readonly CompareRow[] {
  const nonFinite = new Map(
    rows.flatMap(({ path, values }) => {
      const [, metric] = /^metric\/(.*)\/non_finite_step$/s.exec(path) ?? [];
      return metric === undefined ? [] : [[metric, values]];
    }),
  );
  const lines = rows.flatMap(({ path, values }): CompareRow[] => {
    const slash = path.indexOf("/");
    const part = OF_PREFIX[path.slice(0, slash)];
    const name = path.slice(slash + 1);
    const all = runIds.map((id) => values[id] ?? undefined);
    if (part === undefined) return [];
    if (part === "Metrics") {
      const last = name.lastIndexOf("/");
      const metric = name.slice(0, last);
      const isRead = isOfEachRun(figure);
      if (name.slice(last + 1) !== (isRead ? "latest" : figure)) return [];
      const known = isRead ? runIds.map((_, i) => figureOf(ofEach[i], metric, figure)) : all;
      // The server knows the step of the newest value that is not finite, and `latest` is the newest finite one.
      const isNaN = (id: string, value: unknown): boolean =>
        typeof nonFinite.get(metric)?.[id] === "number" && (figure === "latest" || value === undefined);
      const shown = runIds.map((id, i) => (isNaN(id, known[i]) ? "NaN" : known[i]));
      return [{ part, label: metric, values: shown, different: differ(shown), metric }];
    }
    if (part !== "Config" && part !== "Environment")
      return [{ part, label: name, values: all, different: differ(all) }];
    return flattened(name, all, 0).map(([label, leaves]) => ({
      part,
      label,
      values: leaves,
      different: differ(leaves),
    }));
  });
  const order = (row: CompareRow): number => (row.different ? 0 : PARTS.length) + PARTS.indexOf(row.part);
  return lines.toSorted((a, b) => order(a) - order(b) || (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
}

function figureOf(figures: RunFigures | undefined, metric: string, figure: ComparedFigure): number | undefined {
  return figures !== undefined && Object.hasOwn(figures, metric) ? (figures[metric]![figure] ?? undefined) : undefined;
}

function flattened(name: string, values: readonly unknown[], depth: number): [string, readonly unknown[]][] {
  const isNested = values.some((value) => isGroup(value) && Object.keys(value).length > 0);
  // Where one run has a value and another a group of that name, both are shown as they are.
  const isMixed = values.some((value) => value !== undefined && !isGroup(value));
  if (!isNested || isMixed || depth >= DEPTH_MAX) return [[name, values]];
  const keys = new Set(values.flatMap((value) => (isGroup(value) ? Object.keys(value) : [])));
  return [...keys].flatMap((key) =>
    flattened(
      `${name}.${key}`,
      values.map((value) => (isGroup(value) && Object.hasOwn(value, key) ? value[key] : undefined)),
      depth + 1,
    ),
  );
}

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether values are not all the same, ignoring the order of keys in them. */
export function differ(values: readonly unknown[]): boolean {
  return new Set(values.map(canonical)).size > 1;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isGroup(value)) return value === undefined ? "" : exactJson(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(",")}}`;
}

/** Returns the lines of a comparison as CSV (RFC 4180), with every digit. Numbers are numbers, and no text is taken for a formula. */
export function compareCsv(names: readonly string[], rows: readonly CompareRow[]): string {
  const lines = [
    ["part", "key", ...names],
    ...rows.map(({ part, label, values }) => [part, label, ...values.map(cellValue)]),
  ];
  return lines.map((line) => `${line.map(csvCell).join(",")}\r\n`).join("");
}

function cellValue(value: unknown): CsvValue {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" || typeof value === "number") return value;
  return typeof value === "bigint" ? { digits: String(value) } : exactJson(value);
}

/** Whether more or less of a metric is better. */
export type Direction = "max" | "min";

/** How a value compares to the baseline's. */
type Delta = { readonly text: string; readonly tone: "better" | "worse" | "even" };

/** Returns the difference of two numbers, with its sign, and whether it is better; undefined where there is nothing to compare. */
export function deltaOf(value: unknown, base: unknown, direction: Direction | undefined): Delta | undefined {
  if (typeof value !== "number" || typeof base !== "number") return undefined;
  const difference = value - base;
  if (difference === 0) return { text: "±0", tone: "even" };
  const text = `${difference > 0 ? "+" : "−"}${short(Math.abs(difference))}`;
  if (direction === undefined) return { text, tone: "even" };
  return { text, tone: difference > 0 === (direction === "max") ? "better" : "worse" };
}

const short = (size: number): string => String(Number(size.toPrecision(4)));

/** Reads the directions that a person chose, as addresses have them: `max:reward,min:loss`. */
export function readDirections(texts: readonly string[]): ReadonlyMap<string, Direction> {
  return new Map(
    texts.flatMap((text): [string, Direction][] => {
      const [, direction, key] = /^(max|min):(.+)$/s.exec(text) ?? [];
      return key === undefined ? [] : [[key, direction as Direction]];
    }),
  );
}

/** Writes what `readDirections` reads. */
export const writeDirections = (directions: ReadonlyMap<string, Direction>): string[] =>
  [...directions].map(([key, direction]) => `${direction}:${key}`);
