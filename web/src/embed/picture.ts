import { DASHES, lookAt } from "../charts/look/palette.ts";
import type { Axes, Line } from "../charts/scene/line-model.ts";
import { lineScene, type LineScene } from "../charts/scene/line-scene.ts";
import { shortNumber } from "../charts/scene/numbers.ts";
import type { Inks } from "../charts/scene/scene.ts";
import { readingsAt, type Reading } from "../charts/view/readings.ts";
import type { ShownChart, ShownRun } from "./view.ts";

/** In pixels. */
const HEIGHT = 240;
const WIDTH_MIN = 200;

const AXES: Axes = { x: { kind: "step", log: false }, y: { log: false, ignoreOutliers: false } };

/** Colors of the style sheet, which follow its theme; `--line` is that of a line's class. */
const INKS: Inks = { surface: "var(--card)", ink: "var(--text)", faint: "var(--faint)", rule: "var(--rule)" };
const LINE_COLOR = "var(--line)";

/** How the line of a run is drawn. */
type Stroke = {
  /** One of the colors of the style sheet, from 0 on. */
  readonly color: number;
  /** Lengths of dashes and gaps in pixels, as `stroke-dasharray` takes them; `none`: a line without gaps. */
  readonly dash: string;
};

/** Returns the stroke of the run at this place in the list; different for the first 112. With patterns, neighbors differ in their dashes, too. */
export function strokeOf(place: number, hasPatterns: boolean): Stroke {
  const { color, dash } = lookAt(place, hasPatterns);
  return { color, dash: DASHES[dash]!.join(" ") || "none" };
}

/** Returns the lines of a chart; the id of each is the place of its run in the list. */
export function linesOf({ lines }: ShownChart, runs: readonly ShownRun[], hasPatterns: boolean): Line[] {
  return lines.map(({ run, points }) => {
    const { dash } = strokeOf(run, hasPatterns);
    return {
      id: String(run),
      name: runs[run]!.name,
      color: LINE_COLOR,
      dash: dash === "none" ? [] : dash.split(" ").map(Number),
      x: Float64Array.from(points, ({ step }) => step),
      y: Float64Array.from(points, ({ value }) => value ?? Number.NaN),
    };
  });
}

/** Returns the picture of lines in a place of this width; undefined where no point has a value. */
export function pictureOf(lines: readonly Line[], width: number, highlight: string | undefined): LineScene | undefined {
  if (!lines.some(({ y }) => y.some(Number.isFinite))) return undefined;
  const size = { width: Math.max(WIDTH_MIN, width), height: HEIGHT };
  return lineScene({ lines, axes: AXES, size, inks: INKS, highlight });
}

/** Describes lines for people who do not see them: how many there are, and what they cover. */
export function summaryOf(key: string, lines: readonly Line[]): string {
  const steps: number[] = [];
  const values: number[] = [];
  for (const { x, y } of lines)
    y.forEach((value, i) => {
      if (!Number.isFinite(value)) return;
      steps.push(x[i]!);
      values.push(value);
    });
  const count = lines.length === 1 ? "1 run" : `${lines.length} runs`;
  return `${key}: ${count}, steps ${rangeText(steps)}, values ${rangeText(values)}`;
}

function rangeText(numbers: readonly number[]): string {
  const low = numbers.reduce((least, one) => Math.min(least, one), Infinity);
  const high = numbers.reduce((most, one) => Math.max(most, one), -Infinity);
  return `${shortNumber(low)} to ${shortNumber(high)}`;
}

/** Returns the point of all lines that is nearest to a place in pixels. */
export function nearestReading(
  lines: readonly Line[],
  { x, y }: LineScene,
  at: { readonly left: number; readonly top: number },
): Reading | undefined {
  // Points without a value are infinitely far away.
  const distance = ({ left, top }: Reading): number =>
    Number.isFinite(top) ? Math.hypot(left - at.left, top - at.top) : Infinity;
  return readingsAt(lines, x.toValue(at.left), x, y, Infinity).reduce<Reading | undefined>(
    (nearest, one) => (nearest === undefined || distance(one) < distance(nearest) ? one : nearest),
    undefined,
  );
}
