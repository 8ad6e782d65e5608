import { gapOf } from "../series/series.ts";
import { forkPlace, inheritedPart, lowerBound, ownPart, type Line } from "./line-model.ts";
import type { Scale } from "./scale.ts";
import type { Shape } from "./scene.ts";
import { bandOf, edgesOf, NO_TRACE, spikesOf, traceOf, type Places, type Trace } from "./traces.ts";

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

/** The distances that are gaps: sorting them takes as long as tracing. */
const gaps = new WeakMap<Float64Array, number>();

function knownGap(x: Float64Array): number {
  const gap = gaps.get(x) ?? gapOf(x);
  gaps.set(x, gap);
  return gap;
}

function tracedOf(line: Line, x: Scale, y: Scale): Traced {
  const view = [x.domain, x.pixels, x.log, y.domain, y.pixels, y.log].join();
  const known = traced.get(line);
  if (known?.view === view) return known.found;
  const { low, high, smoothed, isSpread = false } = line;
  const places = inView(line, x);
  // Behind a gap before each point, all are isolated.
  const gap = line.hasOnlyPoints === true ? 0 : knownGap(line.x);
  const edges = low === undefined || high === undefined ? undefined : edgesOf(line.x, { low, high }, places, x, y);
  const bottom = Math.max(...y.pixels);
  const isFork = line.forkStep !== undefined;
  const found: Traced = {
    spikes: edges === undefined || isSpread ? new Float64Array() : spikesOf(edges, places, bottom),
    band: edges === undefined ? new Float64Array() : bandOf(line.x, edges, places, bottom, gap),
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
function inView({ x: xs }: Line, { domain }: Scale): Places {
  return [Math.max(0, lowerBound(xs, domain[0]) - 1), Math.min(xs.length, lowerBound(xs, domain[1]) + 2)];
}
