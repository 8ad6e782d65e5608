import { metricDirection } from "@tidemark/values/metric-direction";
import { joinList, splitList } from "../../../app/addresses.ts";

/** The user's choices for the charts of columns; part of the address. */
export type ColumnChoice = {
  /** The column of a metric that is explained, such as `metrics.loss.best`; undefined takes the first metric there is. */
  readonly of: string | undefined;
  /** The column of a config that it is drawn over; undefined takes the one that correlates most with it. */
  readonly by: string | undefined;
  /** The column that colors points; undefined leaves runs their own colors. */
  readonly tint: string | undefined;
  /** The columns of parallel coordinates before the metric; none takes those that go together with it most. */
  readonly axes: readonly string[];
  readonly ofLog: boolean;
  readonly byLog: boolean;
};

/** The names that the choice has in the query of an address. */
type ChoiceQuery = Readonly<Record<"of" | "by" | "tint" | "axes" | "logs", string | undefined>>;

/** Columns of parallel coordinates in addition to the metric. */
export const AXES_MAX = 12;

/** Columns that are taken where nothing is chosen. */
export const AXES_USUAL = 5;

/** Writes a choice as parts of an address; undefined for defaults. Reading it gives the same choice. */
export function queryOfChoice({ of, by, tint, axes, ofLog, byLog }: ColumnChoice): ChoiceQuery {
  const logs = [...(ofLog ? ["of"] : []), ...(byLog ? ["by"] : [])];
  return { of, by, tint, axes: joinList(axes), logs: joinList(logs) };
}

/** Reads a choice from the query of an address; values that are not columns count as not chosen. */
export function choiceOf(query: { get(name: string): string | null }): ColumnChoice {
  const column = (name: string, kinds: RegExp): string | undefined => {
    const value = query.get(name);
    return value !== null && kinds.test(value) ? value : undefined;
  };
  const logs = splitList(query.get("logs"));
  return {
    of: column("of", METRIC),
    by: column("by", CONFIG),
    tint: column("tint", COLUMN),
    axes: splitList(query.get("axes"))
      .filter((name) => CONFIG.test(name))
      .slice(0, AXES_MAX),
    ofLog: logs.includes("of"),
    byLog: logs.includes("by"),
  };
}

const METRIC = /^metrics\.[^,]+$/;
const CONFIG = /^config\.[^,]+$/;
const COLUMN = /^(?:config|metrics)\.[^,]+$/;

/** A column that correlates with the metric; the strongest are first. */
export type Ranked = { readonly column: string };

/** Returns the metric that models are most likely judged by: one of validation whose better direction is known, else any such, else the first. */
export function firstMetric(names: readonly string[]): string | undefined {
  const judged = names.filter((name) => metricDirection(name) !== undefined);
  return judged.find((name) => /(^|[/_])(val|valid|validation|eval|test)([/_]|$)/.test(name)) ?? judged[0] ?? names[0];
}

/** Returns the column of a config that the metric is drawn over. */
export function byOf(
  choice: ColumnChoice,
  ranked: readonly Ranked[],
  configKeys: readonly string[],
): string | undefined {
  return choice.by ?? ranked[0]?.column ?? (configKeys[0] === undefined ? undefined : `config.${configKeys[0]}`);
}

/** Returns the columns of parallel coordinates, the metric last. */
export function axesOf(
  choice: ColumnChoice,
  of: string,
  ranked: readonly Ranked[],
  configKeys: readonly string[],
): string[] {
  if (choice.axes.length > 0) return [...choice.axes, of];
  // Unranked columns are the same in all runs, or not numbers.
  const usual = ranked.length > 0 ? ranked.map(({ column }) => column) : configKeys.map((key) => `config.${key}`);
  return [...usual.slice(0, AXES_USUAL), of];
}
