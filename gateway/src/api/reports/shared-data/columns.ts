import { readDocument, type ExactJson, type ExactObject } from "@tidemark/documents";
import type { MetricAggregates, Run } from "@tidemark/proto/runs/v1/runs";
import { raw, type Json } from "../../../http/json.ts";

/** The figures of a metric that a column can show. */
const FIGURES = ["latest", "best", "min", "max", "mean", "count"] as const;

type Figure = (typeof FIGURES)[number];

/** A value of a run that a panel of a report shows. */
export type Column =
  | { readonly kind: "run"; readonly field: "name" | "status" | "tags" | "notes" }
  | { readonly kind: "config"; readonly path: string }
  /** The first of these that the run has. */
  | { readonly kind: "metric"; readonly choices: readonly { readonly key: string; readonly figure: Figure }[] }
  | { readonly kind: "none" };

/** Reads the name of a column as people write it in a report: `config.<path>`, `metrics.<key>[.<figure>]`, `name`, `status`, `tags`, `notes`. */
export function columnOf(name: string): Column {
  if (name === "name" || name === "status" || name === "tags" || name === "notes") return { kind: "run", field: name };
  const [, kind, path = ""] = /^(config|metrics?)[./](.+)$/su.exec(name) ?? [];
  if (kind === undefined) return { kind: "none" };
  if (kind === "config") return { kind: "config", path };
  const choices = FIGURES.flatMap((figure) =>
    [`.${figure}`, `/${figure}`]
      .filter((suffix) => path.length > suffix.length && path.endsWith(suffix))
      .map((suffix) => ({ key: path.slice(0, -suffix.length), figure })),
  );
  return { kind: "metric", choices: [...choices, { key: path, figure: "latest" }] };
}

/** A run with the figures of some keys. */
export type ShownRun = {
  readonly run: Run;
  /** running, stopping, stopped, finished or failed. */
  readonly status: string;
  readonly metrics: readonly MetricAggregates[];
};

/** Returns the keys that are needed to show columns, each once. */
export function keysOfColumns(columns: Iterable<Column>): string[] {
  const keys = [...columns].flatMap((column) => (column.kind === "metric" ? column.choices.map(({ key }) => key) : []));
  return [...new Set(keys)];
}

/** Returns the values of a run in some columns, as JSON; columns without a value are left out. */
export function valuesOf(
  { run, status, metrics }: ShownRun,
  columns: ReadonlyMap<string, Column>,
): { readonly [name: string]: Json } {
  let config: ExactObject | undefined;
  const values = [...columns].flatMap(([name, column]): [string, Json][] => {
    let value: Json | undefined;
    if (column.kind === "metric") value = figureOf(metrics, column.choices);
    else if (column.kind === "config") {
      config ??= readDocument(run.configJson, "config");
      const found = valueAt(config, column.path);
      value = found === undefined || found === null ? undefined : raw(JSON.stringify(found));
    } else if (column.kind === "run") {
      const { name: runName, tags, notes } = run;
      value = { name: runName, status, tags: tags.length === 0 ? undefined : tags.join(", "), notes }[column.field];
    }
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(values);
}

function figureOf(
  metrics: readonly MetricAggregates[],
  choices: readonly { readonly key: string; readonly figure: Figure }[],
): number | undefined {
  for (const { key, figure } of choices) {
    for (const some of metrics) {
      const at = some.keys.indexOf(key);
      if (at >= 0) return Number.isFinite(some[figure][at]) ? some[figure][at] : undefined;
    }
  }
  return undefined;
}

/** Returns what a config has at a path, whose parts are apart by dots: under the whole text, else nested. */
function valueAt(config: ExactObject, path: string): ExactJson | undefined {
  if (Object.hasOwn(config, path)) return config[path];
  let value: ExactJson | undefined = config;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, part))
      return undefined;
    value = (value as ExactObject)[part];
  }
  return value;
}
