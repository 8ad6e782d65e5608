import { lowerBound, type Axes, type Line } from "./line-model.ts";
import { notFiniteIn, type NotFinite } from "./not-finite.ts";
import { aboveZero, widened, type Range } from "./scale.ts";

/** The ranges that the axes of a chart cover, and the values outside of them. */
export type Extent = {
  readonly x: Range;
  readonly y: Range;
  /** Points that a logarithmic axis has no place for; `atLeast` where buckets hide how many these are. */
  readonly droppedX: number;
  readonly droppedY: number;
  readonly droppedAtLeast: boolean;
  /** Points or buckets that reach beyond the axis because outliers are left out, and how far they go. */
  readonly cut: number;
  readonly cutTo: Range | undefined;
  readonly notFinite: NotFinite;
};

/** Room beyond the data, so that no line lies on the frame. */
const ROOM = 0.04;

/** The share of the values at each end that may be outliers, and how far beyond the others they begin. */
const OUTLIER_SHARE = 0.02;
const OUTLIER_ROOM = 0.25;

/** Returns the extent of lines; undefined where nothing can be drawn. */
export function extentOf(lines: readonly Line[], axes: Axes): Extent | undefined {
  const x = axes.zoomX ?? extentX(lines, axes.x.log);
  if (x === undefined) return undefined;
  let [low, high] = [Infinity, -Infinity];
  let [droppedX, droppedY, droppedAtLeast] = [0, 0, false];
  let notFinite: NotFinite = { count: 0, isAbove: false, isBelow: false };
  for (const line of lines) {
    const { x: xs, y, low: lows, high: highs } = line;
    if (axes.x.log) droppedX += pointsBefore(line, firstAbove(xs));
    const [from, end] = [lowerBound(xs, x[0]), lowerBound(xs, nextAfter(x[1]))];
    for (const column of [y, lows, highs]) {
      if (column === undefined) continue;
      const [least, most] = rangeIn(column, from, end, axes.y.log);
      low = Math.min(low, least);
      high = Math.max(high, most);
    }
    const more = notFiniteIn(line, from, end);
    if (more.count > 0)
      notFinite = {
        count: notFinite.count + more.count,
        isAbove: notFinite.isAbove || more.isAbove,
        isBelow: notFinite.isBelow || more.isBelow,
      };
    if (!axes.y.log) continue;
    const dropped = notAboveZero(line, from, end);
    droppedY += dropped.count;
    droppedAtLeast ||= dropped.isAtLeast;
  }
  if (low > high) {
    if (axes.zoomY === undefined && notFinite.count === 0 && droppedY === 0) return undefined;
    [low, high] = axes.y.log ? [1, 10] : [0, 1];
  }
  const whole: Range = [low, high];
  const usual = axes.y.ignoreOutliers && axes.zoomY === undefined ? usualRange(lines, x, axes.y.log) : undefined;
  const isCut = usual !== undefined && (usual[0] > low || usual[1] < high);
  const shown: Range = isCut ? [Math.max(usual[0], low), Math.min(usual[1], high)] : whole;
  return {
    x,
    y: axes.zoomY ?? chosen(widened(shown, ROOM, axes.y.log), axes),
    droppedX,
    droppedY,
    droppedAtLeast,
    cut: isCut ? countBeyond(lines, x, widened(shown, ROOM, axes.y.log)) : 0,
    cutTo: isCut ? whole : undefined,
    notFinite,
  };
}

/** Returns the lowest and highest of the numbers that an axis has a place for. */
function rangeIn(column: Float64Array, from: number, end: number, log: boolean): Range {
  let [low, high] = [Infinity, -Infinity];
  const under = log ? 0 : -Infinity;
  for (let i = from; i < end; i++) {
    const value = column[i]!;
    if (value > under && value < low) low = value;
    if (value > high && value > under && value < Infinity) high = value;
  }
  return [low, high];
}

/** Counts the points that a logarithmic axis has no place for. Of a bucket only its ends are known. */
function notAboveZero(
  { y, low = y, high = y, count: counts }: Line,
  from: number,
  end: number,
): { readonly count: number; readonly isAtLeast: boolean } {
  let [count, isAtLeast] = [0, false];
  for (let i = from; i < end; i++) {
    if (!Number.isFinite(y[i]!)) continue;
    if (!(high[i]! > 0)) count += counts?.[i] ?? 1;
    else if (!(low[i]! > 0)) {
      count += 1;
      isAtLeast ||= counts !== undefined && counts[i]! > 2;
    }
  }
  return { count, isAtLeast };
}

/** Returns a range with the ends that were chosen, unless nothing would lie between them. */
function chosen([low, high]: Range, { rangeY, y }: Axes): Range {
  const [least, most] = rangeY ?? [];
  const from = least === undefined || (y.log && least <= 0) ? low : least;
  const to = most ?? high;
  return from < to ? [from, to] : [low, high];
}

function extentX(lines: readonly Line[], log: boolean): Range | undefined {
  let [low, high] = [Infinity, -Infinity];
  for (const { x } of lines) {
    const from = log ? firstAbove(x) : 0;
    if (from >= x.length) continue;
    low = Math.min(low, x[from]!);
    high = Math.max(high, x.at(-1)!);
  }
  return low > high ? undefined : low === high ? widened([low, high], 0, log) : [low, high];
}

/** The first place above 0, where a logarithmic axis begins. */
function firstAbove(x: Float64Array): number {
  return lowerBound(x, Number.MIN_VALUE);
}

function pointsBefore({ count }: Line, end: number): number {
  let sum = 0;
  for (let i = 0; i < end; i++) sum += count?.[i] ?? 1;
  return sum;
}

const nextAfter = (value: number): number => value + Math.abs(value) * Number.EPSILON + Number.MIN_VALUE;

/** Calls for the ends of the band of each point that is in view. */
function eachInView(lines: readonly Line[], x: Range, visit: (least: number, most: number) => void): void {
  for (const { x: xs, y, low, high } of lines) {
    const end = lowerBound(xs, nextAfter(x[1]));
    for (let i = lowerBound(xs, x[0]); i < end; i++)
      if (Number.isFinite(y[i]!)) visit(low?.[i] ?? y[i]!, high?.[i] ?? y[i]!);
  }
}

/** Returns the range of most values, with room for those that are not far from it. */
function usualRange(lines: readonly Line[], x: Range, log: boolean): Range | undefined {
  const found: number[] = [];
  const place = log ? Math.log10 : (value: number) => value;
  eachInView(lines, x, (least, most) => {
    if (!log || least > 0) found.push(place(least));
    if ((!log || most > 0) && most !== least) found.push(place(most));
  });
  if (found.length === 0) return undefined;
  const sorted = Float64Array.from(found).sort();
  const at = (share: number): number => sorted[Math.round((sorted.length - 1) * share)]!;
  const [low, high] = [at(OUTLIER_SHARE), at(1 - OUTLIER_SHARE)];
  if (low === high) return undefined;
  const room = (high - low) * OUTLIER_ROOM;
  return log ? aboveZero([10 ** (low - room), 10 ** (high + room)]) : [low - room, high + room];
}

function countBeyond(lines: readonly Line[], x: Range, [low, high]: Range): number {
  let count = 0;
  eachInView(lines, x, (least, most) => {
    if (least < low || most > high) count += 1;
  });
  return count;
}
