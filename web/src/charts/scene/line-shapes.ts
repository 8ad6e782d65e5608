import { gapOf, isGap } from "../series/series.ts";
import { forkPlace, inheritedPart, lowerBound, ownPart, type Line } from "./line-model.ts";
import type { Scale } from "./scale.ts";
import type { Shape } from "./scene.ts";

/** How strong a line is drawn. */
type Strength = "usual" | "highlighted" | "dimmed";

const WIDTH = 1.5;
const WIDTH_HIGHLIGHTED = 2.75;
const DOT_RADIUS = 2.5;
const BAND_ALPHA = 0.18;
const SPIKE_ALPHA = 0.6;
/** Of a line behind its smoothed one. */
const RAW_ALPHA = 0.28;
const DIMMED = 0.15;
/** How the parent's part of a fork is drawn: thinner, in dots. */
const INHERITED = { dash: [1, 3], width: 0.75 } as const;

/** A line in pixels. */
type Traced = {
  readonly band: Float64Array;
  readonly spikes: Float64Array;
  readonly raw: Trace;
  readonly smoothed: Trace | undefined;
  /** The parent's part of the main line: the smoothed one if there is one. */
  readonly inherited: Trace;
  /** Where the parent's part ends: one point, or none. */
  readonly fork: Float64Array;
};

/** The last trace of each line: when another line is highlighted, nothing has to be traced again. */
const traced = new WeakMap<Line, { readonly view: string; readonly found: Traced }>();

function tracedOf(line: Line, x: Scale, y: Scale): Traced {
  const view = [x.domain, x.pixels, x.log, y.domain, y.pixels, y.log].join();
  const known = traced.get(line);
  if (known?.view === view) return known.found;
  const { low, high, smoothed, isSpread = false } = line;
  const places = inView(line, x);
  // Behind a gap before each point, all are isolated.
  const gap = line.hasOnlyPoints === true ? 0 : gapOf(line.x);
  const isFork = line.forkStep !== undefined;
  const found: Traced = {
    spikes:
      low === undefined || high === undefined || isSpread
        ? new Float64Array()
        : spikesOf(line, { low, high }, places, x, y),
    band: low === undefined || high === undefined ? new Float64Array() : bandOf(line, { low, high }, places, x, y, gap),
    raw: traceOf(line.x, smoothed === undefined ? ownPart(line, line.y) : line.y, places, x, y, gap),
    smoothed: smoothed === undefined ? undefined : traceOf(line.x, ownPart(line, smoothed), places, x, y, gap),
    inherited: isFork ? traceOf(line.x, inheritedPart(line, smoothed ?? line.y), places, x, y, gap) : NO_TRACE,
    fork: isFork ? forkPlace(line, smoothed ?? line.y, x, y) : NO_TRACE.dots,
  };
  traced.set(line, { view, found });
  return found;
}

/** Returns the shapes of a line within what the axis shows: its band, its points as dots where no line reaches them, the line, and the smoothed line. */
export function lineShapes(line: Line, x: Scale, y: Scale, strength: Strength): Shape[] {
  const { id, color, name } = line;
  const { band, spikes, raw, smoothed, inherited, fork } = tracedOf(line, x, y);
  const dim = strength === "dimmed" ? DIMMED : 1;
  const main = {
    line: id,
    color,
    dash: line.dash,
    width: strength === "highlighted" ? WIDTH_HIGHLIGHTED : WIDTH,
    alpha: dim,
    label: name,
  };
  const shapes: Shape[] = band.length > 0 ? [{ kind: "area", points: band, fill: color, alpha: BAND_ALPHA * dim }] : [];
  if (spikes.length > 0)
    shapes.push({ kind: "path", points: spikes, stroke: color, width: 1, dash: [], alpha: SPIKE_ALPHA * dim });
  const { dash, width } = INHERITED;
  const parents = strokes(inherited, { ...main, dash, width: width * main.width, label: `${name}, of its parent` });
  if (fork.length > 0)
    parents.push({
      kind: "dots",
      points: fork,
      fill: color,
      radius: DOT_RADIUS,
      alpha: dim,
      line: id,
      label: `Fork of ${name}`,
    });
  if (smoothed === undefined) return [...shapes, ...parents, ...strokes(raw, main)];
  const behind = { line: id, color, dash: [], width: 1, alpha: RAW_ALPHA * dim, label: `${name}, not smoothed` };
  return [...shapes, ...strokes(raw, behind), ...parents, ...strokes(smoothed, main)];
}

type Stroke = {
  readonly line: string;
  readonly color: string;
  readonly dash: readonly number[];
  readonly width: number;
  readonly alpha: number;
  readonly label: string;
};

function strokes({ path, dots }: Trace, { line, color, dash, width, alpha, label }: Stroke): Shape[] {
  const shapes: Shape[] = [];
  if (path.length > 0) shapes.push({ kind: "path", points: path, stroke: color, width, dash, alpha, line, label });
  if (dots.length > 0) shapes.push({ kind: "dots", points: dots, fill: color, radius: DOT_RADIUS, alpha, line, label });
  return shapes;
}

/** The places of the points in view, with one beyond each side so that lines run to the frame. */
function inView({ x: xs }: Line, { domain }: Scale): [number, number] {
  return [Math.max(0, lowerBound(xs, domain[0]) - 1), Math.min(xs.length, lowerBound(xs, domain[1]) + 2)];
}

type Trace = { readonly path: Float64Array; readonly dots: Float64Array };

const NO_TRACE: Trace = { path: new Float64Array(), dots: new Float64Array() };

/** Returns a line in pixels, which ends before gaps and values without a place on the axes, and the isolated points. */
function traceOf(
  xs: Float64Array,
  ys: Float64Array,
  [from, to]: readonly [number, number],
  x: Scale,
  y: Scale,
  gap: number,
): Trace {
  const path: number[] = [];
  const dots: number[] = [];
  let length = 0;
  const end = (): void => {
    if (length === 1) dots.push(...path.splice(-2));
    else if (length > 1) path.push(Number.NaN, Number.NaN);
    length = 0;
  };
  for (let i = from; i < to; i++) {
    const [left, top] = [x.toPixel(xs[i]!), y.toPixel(ys[i]!)];
    if (!Number.isFinite(left) || !Number.isFinite(top)) {
      end();
      continue;
    }
    if (length > 0 && (gap === 0 || isGap(xs, i, gap))) end();
    path.push(left, top);
    length += 1;
  }
  end();
  return { path: Float64Array.from(path), dots: Float64Array.from(dots) };
}

/** A bucket that reaches this many pixels beyond both neighbors is drawn stronger than the band, which would be one faint pixel wide there. */
const SPIKE_PIXELS = 6;

/** Returns the buckets that reach far beyond both neighbors, as upright lines. */
function spikesOf(
  { x: xs }: Line,
  { low, high }: { readonly low: Float64Array; readonly high: Float64Array },
  [from, to]: readonly [number, number],
  x: Scale,
  y: Scale,
): Float64Array {
  const points: number[] = [];
  const bottom = Math.max(...y.pixels);
  const ends = (i: number): readonly [number, number] | undefined => {
    if (i < 0 || i >= xs.length) return undefined;
    const [top, under] = [y.toPixel(high[i]!), y.toPixel(low[i]!)];
    return Number.isFinite(top) ? [top, Number.isFinite(under) ? under : bottom] : undefined;
  };
  for (let i = from; i < to; i++) {
    const [own, before, after] = [ends(i), ends(i - 1), ends(i + 1)];
    if (own === undefined || before === undefined || after === undefined) continue;
    const reachesUp = own[0] < Math.min(before[0], after[0]) - SPIKE_PIXELS;
    const reachesDown = own[1] > Math.max(before[1], after[1]) + SPIKE_PIXELS;
    const left = x.toPixel(xs[i]!);
    if (reachesUp || reachesDown) points.push(left, own[0], left, own[1], Number.NaN, Number.NaN);
  }
  return Float64Array.from(points);
}

/** Pixels that a band has at least, so that one spike among many points is seen even where the mean hides it. */
const BAND_PIXELS_MIN = 1;

/** Returns a band in pixels, as closed pieces between gaps. A logarithmic axis shows the part above 0. */
function bandOf(
  { x: xs }: Line,
  { low, high }: { readonly low: Float64Array; readonly high: Float64Array },
  [from, to]: readonly [number, number],
  x: Scale,
  y: Scale,
  gap: number,
): Float64Array {
  const points: number[] = [];
  let upper: number[] = [];
  let lower: number[] = [];
  const end = (): void => {
    if (upper.length === 2) {
      // A bucket alone has a width of one pixel.
      upper = [upper[0]! - 0.5, upper[1]!, upper[0]! + 0.5, upper[1]!];
      lower = [lower[0]! - 0.5, lower[1]!, lower[0]! + 0.5, lower[1]!];
    }
    for (let i = 0; i < upper.length; i++) points.push(upper[i]!);
    for (let i = lower.length - 2; i >= 0; i -= 2) points.push(lower[i]!, lower[i + 1]!);
    if (upper.length > 0) points.push(Number.NaN, Number.NaN);
    [upper, lower] = [[], []];
  };
  const bottom = Math.max(...y.pixels);
  for (let i = from; i < to; i++) {
    const left = x.toPixel(xs[i]!);
    const [top, least] = [y.toPixel(high[i]!), y.toPixel(low[i]!)];
    if (!Number.isFinite(left) || !Number.isFinite(top)) {
      end();
      continue;
    }
    if (upper.length > 0 && isGap(xs, i, gap)) end();
    const under = Number.isFinite(least) ? least : bottom + 1;
    const more = Math.max(0, BAND_PIXELS_MIN - (under - top)) / 2;
    upper.push(left, top - more);
    lower.push(left, under + more);
  }
  end();
  return Float64Array.from(points);
}
