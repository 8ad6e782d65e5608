import type { Line } from "../scene/line-model.ts";
import type { LineScene } from "../scene/line-scene.ts";
import type { Pointed } from "./chart-link.ts";
import { nearestReading, readingsAt } from "./readings.ts";
import type { PageInks } from "./page-inks.ts";
import type { Drag } from "./pointer.ts";

/** The overlay of a chart while the user points at it or drags. */
export type PointedView = {
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
