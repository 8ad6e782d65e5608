import type { AxisKind } from "./line-model.ts";
import { scaleOf, type Range, type Scale } from "./scale.ts";
import { CHARACTER_PIXELS, type Box, type Inks, type Shape } from "./scene.ts";
import { clockTicks, durationTicks, linearTicks, logTicks, type Tick } from "./ticks.ts";

/** An axis to draw: what it covers and how. */
export type AxisSpec = {
  readonly domain: Range;
  readonly log: boolean;
  readonly kind: AxisKind;
  readonly label?: string | undefined;
  readonly offsetMinutes?: number | undefined;
};

const MARGIN = { top: 8, right: 14, bottom: 24, label: 14 } as const;
const ROWS_APART = 26;
const COLUMNS_APART = 64;

/** Ticks by which a value can be read: a side with room has at most eight. */
const TICKS = { min: 4, max: 8 } as const;

const wantedOn = (pixels: number, apart: number): number =>
  Math.min(TICKS.max, Math.max(TICKS.min, Math.floor(pixels / apart)));

/** Axes in pixels, where the data is between them, and their shapes. */
export type Axed = { readonly x: Scale; readonly y: Scale; readonly plot: Box; readonly shapes: readonly Shape[] };

/** Returns the scales and shapes of two axes in a picture of this size. */
export function axesOf(
  size: { readonly width: number; readonly height: number },
  xSpec: AxisSpec,
  ySpec: AxisSpec,
  inks: Inks,
): Axed {
  const { width, height } = size;
  const bottom = height - MARGIN.bottom - (xSpec.label === undefined ? 0 : MARGIN.label);
  const rows = ticksOf(ySpec, wantedOn(bottom - MARGIN.top, ROWS_APART));
  const widest = Math.max(3, ...rows.map(({ label }) => label.length));
  const left = Math.min(
    width / 2,
    Math.max(34, 12 + CHARACTER_PIXELS * widest + (ySpec.label === undefined ? 0 : MARGIN.label)),
  );
  const right = Math.max(left + 20, width - MARGIN.right);
  const x = scaleOf(xSpec.domain, [left, right], xSpec.log);
  const y = scaleOf(ySpec.domain, [bottom, MARGIN.top], ySpec.log);
  const columns = ticksOf(xSpec, wantedOn(right - left, COLUMNS_APART));
  const shapes: Shape[] = [];
  for (const { value, label } of rows) {
    const top = y.toPixel(value);
    shapes.push(rule([left, top, right, top], inks.rule), text(label, left - 6, top + 4, "end", inks.faint));
  }
  let free = -Infinity;
  for (const { value, label } of columns) {
    const at = x.toPixel(value);
    const half = (CHARACTER_PIXELS * label.length) / 2;
    const middle = Math.min(Math.max(at, half), width - half);
    shapes.push(rule([at, bottom, at, bottom + 4], inks.faint));
    if (middle - half < free) continue;
    free = middle + half + 8;
    shapes.push(text(label, middle, bottom + 16, "middle", inks.faint));
  }
  shapes.push(rule([left, bottom, right, bottom], inks.faint));
  if (xSpec.label !== undefined) shapes.push(text(xSpec.label, (left + right) / 2, height - 4, "middle", inks.faint));
  if (ySpec.label !== undefined)
    shapes.push({ ...text(ySpec.label, 10, (MARGIN.top + bottom) / 2, "middle", inks.faint), turn: -90 });
  return { x, y, plot: { left, top: MARGIN.top, width: right - left, height: bottom - MARGIN.top }, shapes };
}

function ticksOf({ domain, log, kind, offsetMinutes }: AxisSpec, wanted: number): Tick[] {
  if (log) return logTicks(domain, wanted);
  if (kind === "duration") return durationTicks(domain, wanted);
  if (kind === "clock") return clockTicks(domain, wanted, offsetMinutes ?? 0);
  return linearTicks(domain, wanted, kind === "step");
}

function rule(points: readonly number[], stroke: string): Shape {
  return { kind: "path", points: Float64Array.from(points), stroke, width: 1, dash: [], alpha: 1 };
}

/** Returns a text as a shape. */
export function text(
  label: string,
  x: number,
  y: number,
  anchor: "start" | "middle" | "end",
  fill: string,
): Extract<Shape, { kind: "text" }> {
  return { kind: "text", text: label, x, y, anchor, fill };
}
