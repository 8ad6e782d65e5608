import type { AxisKind } from "./line-model.ts";
import { axesOf } from "./axes-shapes.ts";
import { rampEntries, type LegendEntry } from "./legend-entries.ts";
import { counted, shortNumber } from "./numbers.ts";
import { rampColor, widened, type Range, type Scale } from "./scale.ts";
import type { Inks, Scene, Shape } from "./scene.ts";

/** A run with numbers of columns; null where it has none. */
export type PlottedRun = {
  readonly id: string;
  readonly name: string;
  readonly color: string;
  readonly x: number | null;
  readonly y: number | null;
  /** Colors it by a third column. */
  readonly by?: number | null;
};

/** A picture of points with the data needed to point at them. */
export type ScatterScene = {
  readonly scene: Scene;
  readonly x: Scale;
  readonly y: Scale;
  readonly points: readonly { readonly run: PlottedRun; readonly left: number; readonly top: number }[];
  readonly notes: readonly string[];
  /** What the colors mean, for a picture outside of its page. */
  readonly legend: readonly LegendEntry[];
};

/** How a picture of points is drawn. */
export type ScatterAxes = {
  readonly xLabel: string;
  readonly yLabel: string;
  readonly xLog: boolean;
  readonly yLog: boolean;
  /** Colors are by `by`. */
  readonly byLabel?: string | undefined;
  /** The kind of x, unless it is a number. */
  readonly xKind?: AxisKind;
  /** Draws the best y so far, from left to right. */
  readonly best?: "min" | "max" | undefined;
};

const ROOM = 0.05;
const RADIUS = 4;

/** Returns the picture of runs by two of their numbers; undefined where no run has both. */
export function scatterScene(
  runs: readonly PlottedRun[],
  axes: ScatterAxes,
  size: { readonly width: number; readonly height: number },
  inks: Inks,
  highlight?: string,
): ScatterScene | undefined {
  const isKnown = ({ x, y }: PlottedRun): boolean =>
    x !== null && y !== null && Number.isFinite(x) && Number.isFinite(y);
  const known = runs.filter(isKnown);
  const shown = known.filter(({ x, y }) => (!axes.xLog || x! > 0) && (!axes.yLog || y! > 0));
  if (shown.length === 0) return undefined;
  const { x, y, plot, shapes } = axesOf(
    size,
    {
      domain: widened(rangeOf(shown.map((run) => run.x!)), ROOM, axes.xLog),
      log: axes.xLog,
      kind: axes.xKind ?? "number",
      label: axes.xLabel,
    },
    {
      domain: widened(rangeOf(shown.map((run) => run.y!)), ROOM, axes.yLog),
      log: axes.yLog,
      kind: "number",
      label: axes.yLabel,
    },
    inks,
  );
  const by = shown.flatMap((run) => (typeof run.by === "number" && Number.isFinite(run.by) ? [run.by] : []));
  const byRange = by.length === 0 ? undefined : rangeOf(by);
  const points = shown.map((run) => ({ run, left: x.toPixel(run.x!), top: y.toPixel(run.y!) }));
  const isOne = highlight !== undefined && points.some(({ run }) => run.id === highlight);
  const inside = points.map(({ run, left, top }): Shape => ({
    kind: "dots",
    points: Float64Array.of(left, top),
    fill: axes.byLabel === undefined ? run.color : colorOf(run.by, byRange, inks),
    radius: run.id === highlight ? RADIUS + 2 : RADIUS,
    alpha: isOne && run.id !== highlight ? 0.25 : 0.85,
    label: run.name,
  }));
  if (axes.best !== undefined) inside.unshift(bestPath(points, axes.best, inks));
  const [without, dropped] = [runs.length - known.length, known.length - shown.length];
  const notes = [
    ...(without > 0 ? [`${counted(without, "run")} without both values`] : []),
    ...(dropped > 0 ? [`${counted(dropped, "run")} not above 0 left out by a logarithmic axis`] : []),
    ...(axes.byLabel !== undefined && byRange !== undefined
      ? [`${axes.byLabel} from ${shortNumber(byRange[0])} (dark) to ${shortNumber(byRange[1])} (light)`]
      : []),
  ];
  const legend =
    axes.byLabel === undefined
      ? shown.map(({ name, color }) => ({ name, color }))
      : byRange === undefined
        ? []
        : rampEntries(axes.byLabel, byRange, by.length < shown.length ? inks.faint : undefined);
  return { scene: { ...size, background: inks.surface, plot, around: shapes, inside }, x, y, points, notes, legend };
}

/** Returns the steps of the best value so far. */
function bestPath(points: ScatterScene["points"], best: "min" | "max", inks: Inks): Shape {
  const path: number[] = [];
  let top: number | undefined;
  // Pixels grow downward.
  const isBetter = (next: number, before: number): boolean => (best === "max" ? next < before : next > before);
  for (const point of points.toSorted((a, b) => a.left - b.left)) {
    if (top !== undefined) path.push(point.left, top);
    if (top !== undefined && !isBetter(point.top, top)) continue;
    top = point.top;
    path.push(point.left, top);
  }
  return {
    kind: "path",
    points: Float64Array.from(path),
    stroke: inks.ink,
    width: 1.5,
    dash: [],
    alpha: 0.7,
    label: "Best so far",
  };
}

function rangeOf(values: readonly number[]): Range {
  return [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
}

function colorOf(by: number | null | undefined, range: Range | undefined, inks: Inks): string {
  if (typeof by !== "number" || !Number.isFinite(by) || range === undefined) return inks.faint;
  return rampColor(range[0] === range[1] ? 0.5 : (by - range[0]) / (range[1] - range[0]));
}

/** Returns the run whose point is nearest to a place, if it is close. */
export function pointAt({ points }: ScatterScene, left: number, top: number, reach = 16): PlottedRun | undefined {
  let [found, least]: [PlottedRun | undefined, number] = [undefined, reach];
  for (const point of points) {
    const distance = Math.hypot(point.left - left, point.top - top);
    if (distance < least) [found, least] = [point.run, distance];
  }
  return found;
}
