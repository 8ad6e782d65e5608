import { DASHES, type ThemeName } from "../look/palette.ts";
import { lineInk, lineLook } from "../look/run-look.ts";
import type { Line } from "../scene/line-model.ts";
import { groupId, type GroupSeries } from "../series/read-groups.ts";
import type { Series } from "../series/series.ts";
import type { Band } from "../state/choices.ts";
import type { ChartState } from "../state/chart-state.ts";
import type { LegendLine } from "../view/legend.tsx";

/** The metrics that a chart shows. */
export type ChartKeys = {
  /** At least one. */
  readonly keys: readonly string[];
  /** Short names of keys, for the chart of a single run. */
  readonly nameOf?: ((key: string) => string | undefined) | undefined;
  /** Only points are drawn. */
  readonly hasOnlyPoints?: boolean;
};

/** Whose lines are drawn, and how. */
type LinesContext = {
  readonly runs: readonly { readonly id: string; readonly name: string; readonly forkStep?: number | undefined }[];
  readonly state: Pick<ChartState, "band" | "lineage" | "group">;
};

type Look = Pick<Line, "color" | "dash">;

/** The id by which a key of a run gets a color of its own; undefined for the first, unless it has a short name. */
const lookIdOf = (name: string | undefined, key: string, k: number): string | undefined =>
  name !== undefined || k > 0 ? `key:${name ?? key}` : undefined;

/** Returns the ids by which the keys of a chart of one run get colors of their own; the first has that of the run, unless it has a short name. */
export function keyLookIds({ runs }: Pick<LinesContext, "runs">, { keys, nameOf }: ChartKeys): readonly string[] {
  if (runs.length !== 1) return [];
  return keys.flatMap((key, k) => lookIdOf(nameOf?.(key), key, k) ?? []);
}

/** Returns the lines of runs: one for each run and key. Keys of several runs differ by their dashes, those of one run by their colors. */
export function runLines(
  series: readonly Series[],
  { runs, state }: LinesContext,
  { keys, nameOf }: ChartKeys,
  theme: ThemeName,
): Line[] {
  const byKey = Map.groupBy(series, ({ key }) => key);
  const isAlone = runs.length === 1;
  return keys.flatMap((key, k) => {
    const byRun = new Map(byKey.get(key)?.map((one) => [one.runId, one]));
    return runs.flatMap(({ id, name: runName, forkStep: at }): Line[] => {
      const found = byRun.get(id);
      if (found === undefined) return [];
      const { x, y, low, high, count, nonFinite, smoothed, step } = found;
      const own = nameOf?.(key);
      const name = own ?? (keys.length === 1 ? runName : isAlone ? key : `${runName}, ${key}`);
      const look = isAlone ? lookOf(lookIdOf(own, key, k) ?? id, theme) : dashed(lookOf(id, theme), k);
      const band = state.band === "none" ? {} : { low, high };
      const forkStep = state.lineage ? at : undefined;
      const points = { x, y, ...band, count, nonFinite, smoothed, step };
      return [{ id: k === 0 ? id : `${id} ${key}`, name, ...look, ...points, forkStep }];
    });
  });
}

/** Returns the lines of groups: one for each group and key. */
export function groupLines(
  groups: readonly GroupSeries[],
  keys: readonly string[],
  band: Band,
  theme: ThemeName,
): Line[] {
  return groups.map(({ key, name, runCount, step, x, mean, std, min, max, count }) => {
    const k = keys.indexOf(key);
    const title = `${name} (${runCount} ${runCount === 1 ? "run" : "runs"})`;
    return {
      id: k === 0 ? groupId(name) : `${groupId(name)} ${key}`,
      name: keys.length === 1 ? title : `${title}, ${key}`,
      ...dashed(lookOf(groupId(name), theme), k),
      x,
      step,
      y: mean,
      ...bandOf(band, { mean, std, min, max }),
      isSpread: true,
      count,
    };
  });
}

function bandOf(
  band: Band,
  { mean, std, min, max }: Pick<GroupSeries, "mean" | "std" | "min" | "max">,
): Pick<Line, "low" | "high"> {
  if (band === "none") return {};
  if (band === "range") return { low: min, high: max };
  return { low: mean.map((value, k) => value - std[k]!), high: mean.map((value, k) => value + std[k]!) };
}

function lookOf(id: string, theme: ThemeName): Look {
  return { color: lineInk(id, theme), dash: lineLook(id).dash };
}

/** The look of another key of the same run or group. */
function dashed({ color, dash }: Look, k: number): Look {
  return { color, dash: k === 0 ? dash : DASHES[k % DASHES.length]! };
}

/** Returns what has to be named below a chart. Runs are named in the table, so that of several runs only the metrics are left to name. */
export function legendOf(
  lines: readonly Line[],
  { runs, state }: LinesContext,
  { keys }: ChartKeys,
): readonly LegendLine[] {
  if (state.group === undefined && keys.length === 1) return [];
  if (state.group !== undefined || runs.length === 1) return lines;
  return keys.map((name, k) => ({ name, color: "currentColor", dash: DASHES[k % DASHES.length]! }));
}

/** Returns a line of which only the points are drawn. */
export function pointsOf(line: Line): Line {
  return { ...line, low: undefined, high: undefined, smoothed: undefined, hasOnlyPoints: true };
}
