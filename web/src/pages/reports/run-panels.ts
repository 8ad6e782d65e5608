import type { RunDetail } from "../../api/run-types.ts";
import { joinList, splitList } from "../../app/addresses.ts";
import { configValue, type Grid } from "./panels.ts";
import type { Dimension, Panel } from "./report-types.ts";

/** Returns the runs of a panel: those that its runset pins, where it pins some. */
export function runsOfPanel({ runsets }: Grid, panel: Panel, runs: readonly RunDetail[]): readonly RunDetail[] {
  const pinned = runsets[panel.runset_index ?? 0]?.pinned_run_ids ?? [];
  return pinned.length === 0 ? runs : runs.filter(({ id }) => pinned.includes(id));
}

/** A run of a scatter plot. */
type Point = { readonly id: string; readonly name: string; readonly x: number | null; readonly y: number | null };

/** Returns the points of runs in a scatter plot: by the latest values of two metrics. */
export function pointsOf({ x_metric: x = "", y_metric: y = "" }: Panel, runs: readonly RunDetail[]): readonly Point[] {
  return runs.map((run) => ({ id: run.id, name: run.name, x: latestOf(run, x), y: latestOf(run, y) }));
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
export function parallelOf({ dimensions = [] }: Panel, runs: readonly RunDetail[]): Parallel {
  const known = new Map(dimensions.map((dimension) => [columnName(dimension), dimension]));
  return {
    columns: [...known.keys()].map((name) => ({ name })),
    runs: runs.map((run) => ({
      id: run.id,
      name: run.name,
      values: [...known.values()].map(({ metric_key: metric, config_key: config = "" }) =>
        metric === undefined ? (configValue(run.config, config) ?? null) : latestOf(run, metric),
      ),
    })),
  };
}

function latestOf({ metric_aggregates: aggregates }: RunDetail, key: string): number | null {
  return Object.hasOwn(aggregates, key) ? aggregates[key]!.latest : null;
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
