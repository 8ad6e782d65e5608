import { lowerBound, nearestAt, stepAt, type Axes, type Line } from "../scene/line-model.ts";
import { notFiniteAt } from "../scene/not-finite.ts";
import type { Scale } from "../scene/scale.ts";
import type { LineScene } from "../scene/line-scene.ts";
import { counted, shortDuration, shortNumber } from "../scene/numbers.ts";
import type { PageInks } from "./canvas-stage.ts";
import type { Drag, Pointed } from "./chart-pointer.ts";

/** A value at the crosshair. */
export type Reading = {
  readonly line: Line;
  readonly place: number;
  readonly x: number;
  /** The smoothed value where there is one. Of a point that is not finite, its value; of a bucket without a finite one NaN. */
  readonly value: number;
  readonly left: number;
  readonly top: number;
};

/** Points farther from the crosshair than this are not read. */
const REACH_PIXELS = 24;

/** Returns what lines have at a place of the axis, or up to `reach` pixels from it, the highest first. */
export function readingsAt(lines: readonly Line[], at: number, x: Scale, y: Scale, reach = REACH_PIXELS): Reading[] {
  const crosshair = x.toPixel(at);
  return lines
    .flatMap((line): Reading[] => {
      const place = nearestAt(line, at);
      if (place < 0) return [];
      const left = x.toPixel(line.x[place]!);
      if (!(Math.abs(left - crosshair) <= reach)) return [];
      const own = line.y[place]!;
      const value = Number.isFinite(own) ? (line.smoothed?.[place] ?? own) : own;
      return [{ line, place, x: line.x[place]!, value, left, top: y.toPixel(value) }];
    })
    .toSorted((a, b) => heightOf(b) - heightOf(a) || 0);
}

/** NaN is below everything. */
const heightOf = ({ value }: Reading): number => (Number.isNaN(value) ? -Infinity : value);

/** Returns the reading that is nearest to a height in pixels. */
export function nearestReading(readings: readonly Reading[], top: number | undefined): Reading | undefined {
  if (top === undefined) return undefined;
  let nearest: Reading | undefined;
  for (const one of readings)
    if (Number.isFinite(one.top) && (nearest === undefined || Math.abs(one.top - top) < Math.abs(nearest.top - top)))
      nearest = one;
  return nearest;
}

/** Returns the readings to list, at most `most`: the nearest one first, then those nearest to it, the highest first. */
export function listed(readings: readonly Reading[], nearest: Reading | undefined, most: number): readonly Reading[] {
  if (nearest === undefined) return readings.slice(0, most);
  const away = ({ top }: Reading): number => (Number.isFinite(top) ? Math.abs(top - nearest.top) : Infinity);
  const others = readings.filter((one) => one !== nearest);
  const near = new Set(others.toSorted((a, b) => away(a) - away(b)).slice(0, most - 1));
  return [nearest, ...others.filter((one) => near.has(one))];
}

/** Writes a value of the horizontal axis with its meaning. */
export function axisText({ x, offsetMinutes }: Axes, value: number): string {
  if (x.kind === "duration") return shortDuration(value);
  if (x.kind === "clock") return clockText(value, offsetMinutes ?? 0);
  return `${x.kind === "step" ? "step" : (x.label ?? "step")} ${shortNumber(value)}`;
}

/** Writes where a point or bucket lies on the axis. */
export function placeText(axes: Axes, { line, place, x }: Pick<Reading, "line" | "place" | "x">): string {
  return axisText(axes, axes.x.kind === "step" ? stepAt(line, place) : x);
}

/** Digits of a deviation that count. */
const SPREAD_DIGITS = 3;

/** Writes how far the points of a bucket or the runs of a group spread: `± 0.02`, or from the lowest to the highest. Empty where they do not. */
export function spreadText({
  line: { y, low, high, count, isSpread },
  place,
}: Pick<Reading, "line" | "place">): string {
  const [least, most] = [low?.[place], high?.[place]];
  if (least === undefined || most === undefined || !(least < most) || (count?.[place] ?? 2) < 2) return "";
  const [under, above] = [y[place]! - least, most - y[place]!];
  const isEven = isSpread === true && Math.abs(under - above) <= 1e-9 * Math.max(under, above);
  return isEven
    ? `± ${shortNumber(Number(above.toPrecision(SPREAD_DIGITS)))}`
    : `${shortNumber(least)} to ${shortNumber(most)}`;
}

/** Writes which values are not finite: `NaN at step 120`, or `3 of 40 values not finite` of a bucket. Empty where all are. */
export function notFiniteText(axes: Axes, { line, place, x }: Pick<Reading, "line" | "place" | "x">): string {
  const found = notFiniteAt(line, place);
  if (found === 0) return "";
  const all = found + (line.nonFinite === undefined ? 0 : (line.count?.[place] ?? 0));
  return all === 1
    ? `${shortNumber(line.y[place]!)} at ${placeText(axes, { line, place, x })}`
    : `${found} of ${counted(all, "value")} not finite`;
}

/** Writes a clock time to the second, in the viewer's time zone: `2026-11-25 12:00:05`. */
function clockText(ms: number, offsetMinutes: number): string {
  return new Date(ms + offsetMinutes * 60_000).toISOString().slice(0, "2026-11-25T12:00:05".length).replace("T", " ");
}

/** Describes in a sentence what a chart shows, for people who do not see it. */
export function summaryOf(title: string, lines: readonly Line[], drawn: LineScene | undefined, axes: Axes): string {
  if (drawn === undefined) return `${title}: no points`;
  const { x, extent } = drawn;
  let [low, high] = [Infinity, -Infinity];
  for (const { x: xs, y, low: lows = y, high: highs = y } of lines)
    for (let i = lowerBound(xs, x.domain[0]); i < xs.length && xs[i]! <= x.domain[1]; i++) {
      if (lows[i]! < low && lows[i]! > -Infinity) low = lows[i]!;
      if (highs[i]! > high && highs[i]! < Infinity) high = highs[i]!;
    }
  const values = low > high ? "no values" : `values ${shortNumber(low)} to ${shortNumber(high)}`;
  const ends = extent.x.map((end) => axisText(axes, end));
  const { count } = extent.notFinite;
  const others = count === 0 ? "" : `, ${counted(count, "value")} not finite`;
  return `${title}: ${counted(lines.length, "line")}, ${ends[0]} to ${ends[1]}, ${values}${others}. Arrow keys read values.`;
}

/** The overlay of a chart while the user points at it or drags. */
type PointedView = {
  readonly drawn: LineScene | undefined;
  readonly lines: readonly Line[];
  readonly size: { readonly width: number; readonly height: number };
  readonly pointed: Pointed | undefined;
  /** The user points at this chart, and not at another one. */
  readonly isOwn: boolean;
  readonly drag: Drag | undefined;
  readonly inks: PageInks;
};

/** This many points are marked; more would hide the lines. */
const MARKS_MAX = 40;

/** Draws the crosshair with the points at it, and the current drag. */
export function drawPointed(context: CanvasRenderingContext2D, ratio: number, view: PointedView): void {
  const { drawn, lines, size, pointed, isOwn, drag, inks } = view;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  if (drawn === undefined) return;
  const { plot } = drawn.scene;
  if (drag !== undefined) {
    context.globalAlpha = 0.2;
    context.fillStyle = inks.accent;
    const [low, length] = [Math.min(drag.from, drag.to), Math.abs(drag.to - drag.from)];
    if (drag.axis === "x") context.fillRect(low, plot.top, length, plot.height);
    else context.fillRect(plot.left, low, plot.width, length);
    context.globalAlpha = 1;
  }
  if (pointed === undefined) return;
  const left = drawn.x.toPixel(pointed.x);
  if (!(left >= plot.left - 1 && left <= plot.left + plot.width + 1)) return;
  context.strokeStyle = inks.faint;
  context.lineWidth = 1;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(Math.round(left) + 0.5, plot.top);
  context.lineTo(Math.round(left) + 0.5, plot.top + plot.height);
  context.stroke();
  context.setLineDash([]);
  const readings = readingsAt(lines, pointed.x, drawn.x, drawn.y);
  const nearest = isOwn ? nearestReading(readings, pointed.top) : undefined;
  for (const one of readings.length > MARKS_MAX ? (nearest === undefined ? [] : [nearest]) : readings) {
    if (!Number.isFinite(one.top) || one.top < plot.top - 1 || one.top > plot.top + plot.height + 1) continue;
    context.beginPath();
    context.arc(one.left, one.top, one === nearest ? 5 : 3.5, 0, 2 * Math.PI);
    context.fillStyle = one.line.color;
    context.fill();
    context.strokeStyle = inks.surface;
    context.lineWidth = 1.5;
    context.stroke();
  }
}
