import type { RunDetail } from "../../api/run-types.ts";
import { exactJson, valueAt, type ExactValue } from "../../api/exact-json.ts";
import type { Block } from "./report-types.ts";

/** A block of charts and runs. */
export type Grid = Extract<Block, { readonly kind: "panel_grid" }>;

/** Panels whose metric is drawn as a line. */
const DRAWN = new Set(["line", "bar", "scalar"]);

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

const AGGREGATES = ["latest", "best", "min", "max", "mean", "count"] as const;

/** Returns what a run has under the name of a column: `config.<path>`, `metrics.<key>[.<aggregate>]`, `name`, `tags`, `notes`. */
export function valueOfField(run: RunDetail, field: string): string | number | undefined {
  if (field === "tags") return run.tags.join(", ");
  if (field === "name" || field === "status") return run[field];
  if (field === "notes") return run.notes ?? undefined;
  const [, kind, name] = /^(config|metrics?)[./](.+)$/.exec(field) ?? [];
  if (name === undefined) return undefined;
  return kind === "config" ? configValue(run.config, name) : metricValue(run, name);
}

function metricValue({ metric_aggregates: aggregates }: RunDetail, name: string): number | undefined {
  for (const aggregate of AGGREGATES) {
    const suffix = [`.${aggregate}`, `/${aggregate}`].find((one) => name.endsWith(one));
    const key = suffix === undefined ? undefined : name.slice(0, -suffix.length);
    if (key !== undefined && Object.hasOwn(aggregates, key)) return aggregates[key]![aggregate] ?? undefined;
  }
  return Object.hasOwn(aggregates, name) ? (aggregates[name]!.latest ?? undefined) : undefined;
}

/** Returns what a config has at a path, whose parts are apart by dots. */
export function configValue(config: { readonly [key: string]: ExactValue }, path: string): string | number | undefined {
  const value = valueAt(config, [path]) ?? valueAt(config, path.split("."));
  if (value === undefined || value === null) return undefined;
  return typeof value === "number" || typeof value === "string" ? value : exactJson(value);
}
