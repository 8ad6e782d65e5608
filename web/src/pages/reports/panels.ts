import { joinList, splitList } from "../../app/addresses.ts";
import type { Bar } from "../../charts/kinds/bars.ts";
import { barColumn, type RunsPanel } from "../../panels/panel.ts";
import type { GridRun } from "./grid-runs.ts";
import type { Block, Dimension, Panel } from "./report-types.ts";

/** A block of charts and runs. */
export type Grid = Extract<Block, { readonly kind: "panel_grid" }>;

/** Panels whose metric is drawn as a line. */
const DRAWN = new Set(["line", "scalar"]);

/** Returns the metrics of a grid's charts, each once. */
export function chartKeys({ panels }: Grid): readonly string[] {
  return [
    ...new Set(
      panels.flatMap((panel) => (DRAWN.has(panel.type) && panel.metric_key !== undefined ? [panel.metric_key] : [])),
    ),
  ];
}

/** Returns the runs that a grid names, each once. */
export function runIdsOf({ runsets, panels }: Grid): readonly string[] {
  const pinned = runsets.flatMap((runset) => runset.pinned_run_ids ?? []);
  const compared = panels.flatMap((panel) => panel.run_ids ?? []);
  return [...new Set([...pinned, ...compared])];
}

/** Returns the columns of a grid's table; undefined where it has none. */
export function tableFields({ panels }: Grid): readonly string[] | undefined {
  const tables = panels.filter((panel) => panel.type === "run_comparer");
  const scalars = panels.flatMap((panel) =>
    panel.type === "scalar" && panel.metric_key !== undefined
      ? [`metrics.${panel.metric_key}.${panel.agg ?? "latest"}`]
      : [],
  );
  if (tables.length === 0 && scalars.length === 0) return undefined;
  return [...new Set([...tables.flatMap((panel) => panel.fields ?? []), ...scalars])];
}

/** Returns the runs of a panel: those that its runset pins, where it pins some. */
export function runsOfPanel({ runsets }: Grid, panel: Panel, runs: readonly GridRun[]): readonly GridRun[] {
  const pinned = runsets[panel.runset_index ?? 0]?.pinned_run_ids ?? [];
  return pinned.length === 0 ? runs : runs.filter(({ id }) => pinned.includes(id));
}

/** A run of a scatter plot. */
type Point = { readonly id: string; readonly name: string; readonly x: number | null; readonly y: number | null };

/** Returns the points of runs in a scatter plot: by the latest values of two metrics. */
export function pointsOf({ x_metric: x = "", y_metric: y = "" }: Panel, runs: readonly GridRun[]): readonly Point[] {
  return runs.map((run) => ({ id: run.id, name: run.name, x: latestOf(run, x), y: latestOf(run, y) }));
}

/** Returns the bars of runs in a bar chart: by a figure of a metric, or by a number of the config. */
export function barsOf(
  panel: Extract<RunsPanel, { type: "bar" }>,
  runs: readonly GridRun[],
  colorOf: (runId: string) => string,
): readonly Bar[] {
  const column = barColumn(panel);
  return runs.map((run) => {
    const value = run.valueOf(column);
    return { id: run.id, name: run.name, color: colorOf(run.id), value: typeof value === "number" ? value : null };
  });
}

/** The content of parallel coordinates: columns, and the values of runs in them. */
type Parallel = {
  readonly columns: readonly { readonly name: string }[];
  readonly runs: readonly {
    readonly id: string;
    readonly name: string;
    readonly values: readonly (number | string | null)[];
  }[];
};

/** Returns the columns of parallel coordinates, each once, with the values of runs; of metrics the latest ones. */
export function parallelOf({ dimensions = [] }: Panel, runs: readonly GridRun[]): Parallel {
  const known = new Map(dimensions.map((dimension) => [columnName(dimension), dimension]));
  return {
    columns: [...known.keys()].map((name) => ({ name })),
    runs: runs.map((run) => ({
      id: run.id,
      name: run.name,
      values: [...known.values()].map(({ metric_key: metric, config_key: config = "" }) =>
        metric === undefined ? (run.valueOf(`config.${config}`) ?? null) : latestOf(run, metric),
      ),
    })),
  };
}

function latestOf(run: GridRun, key: string): number | null {
  const value = run.valueOf(`metrics.${key}.latest`);
  return typeof value === "number" ? value : null;
}

const columnName = ({ metric_key: metric, config_key: config }: Dimension): string =>
  metric === undefined ? `config.${config ?? ""}` : `metrics.${metric}`;

/** Writes columns as a person edits them: `config.lr, metrics.loss`. */
export function columnsText(dimensions: readonly Dimension[]): string {
  return (joinList(dimensions.map(columnName)) ?? "").replaceAll(/(?<!\\),/g, ", ");
}

/** Reads user input as columns; a name without `config.` or `metrics.` is a metric. Columns that equal one of `before` stay as they were stored. */
export function columnsOf(text: string, before: readonly Dimension[] = []): readonly Dimension[] {
  const names = splitList(text).map((name) => name.trim());
  return [...new Set(names.filter((name) => !["", "config.", "metrics."].includes(name)))].map((name) => {
    const same = before.find((dimension) => columnName(dimension) === name);
    if (same !== undefined) return same;
    return name.startsWith("config.")
      ? { config_key: name.slice("config.".length) }
      : { metric_key: name.replace(/^metrics\./, "") };
  });
}
