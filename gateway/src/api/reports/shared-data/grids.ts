import { VIEW_PANELS, VIEW_RUNS_MAX } from "@tidemark/limits";
import { isObject, type Fields } from "../../fields/field.ts";
import { canonicalUuid } from "../../fields/text.ts";
import { columnOf, type Column } from "./columns.ts";

/** What a block of panels shows of its runs. */
export type SharedGrid = {
  /** The place of the block in the report, from 0. */
  readonly block: number;
  /** Lower-case ids, each once; where there are none, the newest runs of the projects. */
  readonly runIds: readonly string[];
  /** Names, each once. */
  readonly projects: readonly string[];
  /** The metrics that are drawn as lines. */
  readonly lineKeys: readonly string[];
  /** The values of runs that tables and other charts show, by their names. */
  readonly columns: ReadonlyMap<string, Column>;
};

/** What the panels of a report show, and what was left out. */
export type SharedContent = { readonly grids: readonly SharedGrid[]; readonly warnings: readonly string[] };

/** Most projects of a block whose newest runs are shown. */
const PROJECTS_MAX = 5;

/** Most metrics and columns of a block, which is what one read of runs returns. */
const NAMES_MAX = VIEW_PANELS.max;

/**
 * Returns what the panels of a report show. Only what they name: the caller has no say in it. Bounded like a view: the first 50 panels with data and the
 * first 100 runs of the report.
 */
export function readGrids(blocks: readonly unknown[]): SharedContent {
  const warnings: string[] = [];
  const runs = new Set<string>();
  let panelsLeft: number = VIEW_PANELS.max;
  const grids = blocks.flatMap((block, place): SharedGrid[] => {
    if (!isObject(block) || block["kind"] !== "panel_grid") return [];
    const all = objectsIn(block["panels"]).filter((panel) => DATA_TYPES.has(panel["type"]));
    const panels = all.slice(0, panelsLeft);
    panelsLeft -= panels.length;
    if (panels.length < all.length)
      warnings.push(`a report shows the data of ${VIEW_PANELS.max} panels; others were left out`);
    if (panels.length === 0) return [];
    const named = new Set(runsOf(block, panels));
    const runIds = [...named].filter((id) => runs.has(id) || (runs.size < VIEW_RUNS_MAX && runs.add(id)));
    if (runIds.length < named.size)
      warnings.push(`a report shows the data of ${VIEW_RUNS_MAX} runs; others were left out`);
    // A block whose runs were all left out does not show the newest ones instead.
    if (named.size > 0 && runIds.length === 0) return [];
    const lineKeys = new Set(panels.filter(({ type }) => type === "line").map((panel) => textOf(panel["metric_key"])));
    const columns = new Map(panels.flatMap(columnNames).map((name) => [name, columnOf(name)]));
    if (lineKeys.size > NAMES_MAX || columns.size > NAMES_MAX)
      warnings.push(`a block shows ${NAMES_MAX} metrics and ${NAMES_MAX} columns; others were left out`);
    return [
      {
        block: place,
        runIds,
        projects: runIds.length > 0 ? [] : projectsOf(block),
        lineKeys: [...lineKeys].slice(0, NAMES_MAX),
        columns: new Map([...columns].slice(0, NAMES_MAX)),
      },
    ];
  });
  return { grids, warnings: [...new Set(warnings)] };
}

/** Charts of objects are not among these: a share link opens metrics and configs alone. */
const DATA_TYPES: ReadonlySet<unknown> = new Set([
  "line",
  "bar",
  "scalar",
  "scatter",
  "parallel_coordinates",
  "run_comparer",
]);

/** Returns the names of the columns that a panel shows, in the order in which it names them. */
export function columnNames(panel: Fields): string[] {
  switch (panel["type"]) {
    case "bar":
      if (typeof panel["metric_key"] !== "string") return [`config.${textOf(panel["config_key"])}`];
      return [`metrics.${panel["metric_key"]}.${textOf(panel["agg"]) || "latest"}`];
    case "scalar":
      return [`metrics.${textOf(panel["metric_key"])}.${textOf(panel["agg"]) || "latest"}`];
    case "scatter":
      return [`metrics.${textOf(panel["x_metric"])}.latest`, `metrics.${textOf(panel["y_metric"])}.latest`];
    case "parallel_coordinates":
      return objectsIn(panel["dimensions"]).map((dimension) =>
        typeof dimension["metric_key"] === "string"
          ? `metrics.${dimension["metric_key"]}.latest`
          : `config.${textOf(dimension["config_key"])}`,
      );
    case "run_comparer":
      return textsIn(panel["fields"]);
    default:
      return [];
  }
}

/** Returns the ids that a block names: the runs that it pins and those that its tables compare. */
function runsOf(block: Fields, panels: readonly Fields[]): string[] {
  const pinned = objectsIn(block["runsets"]).flatMap((runset) => textsIn(runset["pinned_run_ids"]));
  const compared = panels.flatMap((panel) => textsIn(panel["run_ids"]));
  return [...pinned, ...compared].flatMap((id) => canonicalUuid(id) ?? []);
}

function projectsOf(block: Fields): string[] {
  const names = objectsIn(block["runsets"]).flatMap((runset) => textsIn(runset["projects"]));
  return [...new Set(names.filter((name) => name !== ""))].slice(0, PROJECTS_MAX);
}

function objectsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
