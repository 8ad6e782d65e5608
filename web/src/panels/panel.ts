import { joinList, listParts } from "../app/addresses.ts";

/** The figures of a metric that a bar can show; the first one is the default. */
export const BAR_FIGURES = ["latest", "best", "min", "max", "mean"] as const;

/** A figure of a metric. */
export type BarFigure = (typeof BAR_FIGURES)[number];

/** A chart of runs that people add, with the members that panels of reports have. */
export type RunsPanel =
  | { readonly type: "bar"; readonly metric_key: string; readonly agg?: BarFigure }
  | { readonly type: "bar"; readonly config_key: string }
  | { readonly type: "histogram"; readonly object_key: string; readonly view?: "ridges" | "heat" }
  | { readonly type: "roc_curve" | "pr_curve" | "confusion_matrix"; readonly object_key: string };

/** The kinds of these charts, with their names. */
export const PANEL_TYPES = [
  { value: "bar", label: "Bar chart" },
  { value: "histogram", label: "Histograms over steps" },
  { value: "roc_curve", label: "ROC curves" },
  { value: "pr_curve", label: "Precision-recall curves" },
  { value: "confusion_matrix", label: "Confusion matrices" },
] as const satisfies readonly { readonly value: RunsPanel["type"]; readonly label: string }[];

/** Charts of this kind that an address holds. */
export const PANELS_MAX = 20;

/** The members of a panel in an address, and how they are called there. */
const MEMBERS = {
  metric_key: "metric",
  config_key: "config",
  agg: "value",
  object_key: "object",
  view: "view",
} as const;

/** Reads a panel of a report or an address; undefined for what is not one of these. */
export function panelOf(value: { readonly [name: string]: unknown }): RunsPanel | undefined {
  const text = (name: string): string | undefined => {
    const found = value[name];
    return typeof found === "string" && found.trim() !== "" ? found : undefined;
  };
  const type = PANEL_TYPES.find((one) => one.value === value["type"])?.value;
  if (type === undefined) return undefined;
  if (type === "bar") {
    const [metric, config] = [text("metric_key"), text("config_key")];
    if (metric === undefined) return config === undefined ? undefined : { type, config_key: config };
    const agg = BAR_FIGURES.find((one) => one === value["agg"] && one !== BAR_FIGURES[0]);
    return { type, metric_key: metric, ...(agg === undefined ? {} : { agg }) };
  }
  const key = text("object_key");
  if (key === undefined) return undefined;
  if (type !== "histogram") return { type, object_key: key };
  return { type, object_key: key, ...(value["view"] === "heat" ? { view: "heat" } : {}) };
}

/** Writes a panel in the place of one of a report, whose other members stay. */
export function withMembers<Stored extends object>(stored: Stored, panel: RunsPanel): Stored & RunsPanel {
  const others = Object.fromEntries(Object.entries(stored).filter(([name]) => !Object.hasOwn(MEMBERS, name)));
  return { runset_index: 0, ...others, ...panel } as unknown as Stored & RunsPanel;
}

/** Returns the title of a panel. */
export function panelTitle(panel: RunsPanel): string {
  if (panel.type === "bar") return barLabel(panel);
  const { label } = PANEL_TYPES.find(({ value }) => value === panel.type)!;
  return `${panel.object_key}: ${label.toLowerCase().replace("roc", "ROC")}`;
}

/** Returns what the bars of a panel measure. */
export function barLabel(panel: Extract<RunsPanel, { type: "bar" }>): string {
  if (!("metric_key" in panel)) return panel.config_key;
  return panel.agg === undefined ? panel.metric_key : `${panel.metric_key} (${panel.agg})`;
}

/** Returns the column of runs that the bars of a panel show, as the API names it. */
export function barColumn(panel: Extract<RunsPanel, { type: "bar" }>): string {
  if (!("metric_key" in panel)) return `config.${panel.config_key}`;
  return `metrics.${panel.metric_key}.${panel.agg ?? BAR_FIGURES[0]}`;
}

/** Writes panels as a part of an address; undefined for none. */
export function panelsText(panels: readonly RunsPanel[]): string | undefined {
  return joinList(
    panels.slice(0, PANELS_MAX).map(({ type, ...members }) => {
      const pairs = Object.entries(members).map(([name, value]) => `${MEMBERS[name as keyof typeof MEMBERS]}=${value}`);
      return joinList([type, ...pairs])!;
    }),
  );
}

/** Reads what `panelsText` wrote; what makes no sense is left out. */
export function panelsOfText(text: string): readonly RunsPanel[] {
  return listParts(text)
    .flatMap((part) => {
      const [type = "", ...pairs] = listParts(part);
      const named = pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)] as const);
      const members = Object.entries(MEMBERS).flatMap(([name, short]) => {
        const found = named.find(([one]) => one === short);
        return found === undefined ? [] : [[name, found[1]] as const];
      });
      return panelOf({ type, ...Object.fromEntries(members) }) ?? [];
    })
    .slice(0, PANELS_MAX);
}
