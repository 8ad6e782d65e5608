import { signal, type Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Axes, Line } from "../scene/line-model.ts";
import type { LineScene } from "../scene/line-scene.ts";
import type { Range, Scale } from "../scene/scale.ts";
import type { Box } from "../scene/scene.ts";

/** Where the user points: charts that share it show it together. */
export type Pointed = {
  /** On the axis. */
  readonly x: number;
  /** In pixels of the chart that is pointed at. */
  readonly top: number | undefined;
  /** The chart that is pointed at. */
  readonly chart: string;
  /** Stays when the pointer leaves. */
  readonly pinned: boolean;
};

/** The state that charts on one page share. */
export type ChartLink = { readonly pointed: Signal<Pointed | undefined> };

/** Makes what charts share. */
export function createLink(): ChartLink {
  return { pointed: signal<Pointed | undefined>(undefined) };
}

/** The parts of a chart that pointers and keys work on. */
export type ChartParts = {
  readonly id: string;
  readonly link: ChartLink;
  readonly latest: RefObject<{
    readonly drawn: LineScene | undefined;
    readonly lines: readonly Line[];
    readonly axes: Axes;
  }>;
  readonly onZoomX: ((range: Range | undefined) => void) | undefined;
  readonly setZoomY: (range: Range | undefined) => void;
};

/** A drag of a pointer over a chart. */
export type Drag = {
  readonly axis: "x" | "y";
  readonly from: number;
  readonly to: number;
};

/** Shorter drags are clicks. */
const DRAG_PIXELS_MIN = 5;

type At = { readonly x: number; readonly y: number };

/** How fast the wheel zooms. */
const WHEEL = 0.004;

/**
 * Lets pointers show values and zoom: moving points, dragging zooms sideways, with shift up and down, a click pins, a double click shows all, the wheel
 * zooms with ctrl, two fingers pinch. Returns the current drag.
 */
export function useChartPointer({
  id,
  place,
  link,
  latest,
  onZoomX,
  setZoomY,
  repaint,
}: ChartParts & { readonly place: RefObject<HTMLElement | null>; readonly repaint: () => void }): RefObject<
  Drag | undefined
> {
  const drag = useRef<Drag | undefined>(undefined);
  const actions = useRef({ onZoomX, setZoomY, repaint });
  actions.current = { onZoomX, setZoomY, repaint };
  useEffect(() => {
    const element = place.current!;
    let begin: At | undefined;
    let wasPinned = false;
    const fingers = new Map<number, { readonly begin: number; now: number }>();
    const at = ({ clientX, clientY }: PointerEvent | WheelEvent): At => {
      const { left, top } = element.getBoundingClientRect();
      return { x: clientX - left, y: clientY - top };
    };
    const point = (to: At, pinned: boolean): void => {
      const drawn = latest.current.drawn;
      if (drawn === undefined) return;
      const { plot } = drawn.scene;
      const left = Math.min(Math.max(to.x, plot.left), plot.left + plot.width);
      link.pointed.value = { x: drawn.x.toValue(left), top: to.y, chart: id, pinned };
    };
    const isPinned = (): boolean => link.pointed.peek()?.pinned === true;
    const setDrag = (next: Drag | undefined): void => {
      drag.current = next;
      actions.current.repaint();
    };
    const onDown = (event: PointerEvent): void => {
      if (event.button !== 0) return;
      if (event.pointerType === "touch") {
        const { x } = at(event);
        fingers.set(event.pointerId, { begin: x, now: x });
        if (fingers.size === 1) point(at(event), true);
        return;
      }
      begin = at(event);
      wasPinned = isPinned();
      element.setPointerCapture(event.pointerId);
    };
    const onMove = (event: PointerEvent): void => {
      const finger = fingers.get(event.pointerId);
      if (finger !== undefined) {
        finger.now = at(event).x;
        if (fingers.size === 1) point(at(event), true);
        return;
      }
      if (event.pointerType === "touch") return;
      const drawn = latest.current.drawn;
      if (begin !== undefined && drawn !== undefined)
        setDrag(dragOf(begin, at(event), event.shiftKey, drawn.scene.plot));
      if (!isPinned()) point(at(event), false);
    };
    const onUp = (event: PointerEvent): void => {
      const drawn = latest.current.drawn;
      if (fingers.size === 2 && drawn !== undefined && event.type === "pointerup") {
        const [a, b] = [...fingers.values()];
        const range = pinched(drawn.x, [a!.begin, b!.begin], [a!.now, b!.now]);
        if (range !== undefined) actions.current.onZoomX?.(range);
      }
      fingers.delete(event.pointerId);
      const done = drag.current;
      if (begin === undefined || drawn === undefined) return;
      begin = undefined;
      setDrag(undefined);
      if (event.type !== "pointerup") return;
      if (done === undefined) {
        if (wasPinned) link.pointed.value = undefined;
        point(at(event), !wasPinned);
        return;
      }
      const range = rangeBetween(done.axis === "x" ? drawn.x : drawn.y, done.from, done.to);
      if (range === undefined) return;
      if (done.axis === "y") actions.current.setZoomY(range);
      else actions.current.onZoomX?.(range);
    };
    const onLeave = (): void => {
      if (!isPinned() && begin === undefined) link.pointed.value = undefined;
    };
    const onDouble = (): void => {
      link.pointed.value = undefined;
      actions.current.setZoomY(undefined);
      actions.current.onZoomX?.(undefined);
    };
    const onWheel = (event: WheelEvent): void => {
      const drawn = latest.current.drawn;
      if (!event.ctrlKey || drawn === undefined) return;
      event.preventDefault();
      const range = zoomedAround(drawn.x, at(event).x, Math.exp(event.deltaY * WHEEL));
      if (range !== undefined) actions.current.onZoomX?.(range);
    };
    element.addEventListener("pointerdown", onDown);
    element.addEventListener("pointermove", onMove);
    element.addEventListener("pointerup", onUp);
    element.addEventListener("pointercancel", onUp);
    element.addEventListener("pointerleave", onLeave);
    element.addEventListener("dblclick", onDouble);
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      element.removeEventListener("pointerdown", onDown);
      element.removeEventListener("pointermove", onMove);
      element.removeEventListener("pointerup", onUp);
      element.removeEventListener("pointercancel", onUp);
      element.removeEventListener("pointerleave", onLeave);
      element.removeEventListener("dblclick", onDouble);
      element.removeEventListener("wheel", onWheel);
      if (link.pointed.peek()?.chart === id) link.pointed.value = undefined;
    };
  }, [id, link]);
  return drag;
}

/** Returns the drag between two places; undefined for a click. Sideways unless shift is held, which means up and down. */
function dragOf(
  begin: { readonly x: number; readonly y: number },
  now: { readonly x: number; readonly y: number },
  shift: boolean,
  plot: Box,
): Drag | undefined {
  const [from, to] = shift ? [begin.y, now.y] : [begin.x, now.x];
  if (Math.abs(to - from) < DRAG_PIXELS_MIN) return undefined;
  const [low, high] = shift ? [plot.top, plot.top + plot.height] : [plot.left, plot.left + plot.width];
  const within = (pixel: number): number => Math.min(Math.max(pixel, low), high);
  return { axis: shift ? "y" : "x", from: within(from), to: within(to) };
}

/** Returns the range of an axis between two pixels; undefined if it is too short for numbers. */
function rangeBetween(scale: Scale, from: number, to: number): Range | undefined {
  const ends = [scale.toValue(from), scale.toValue(to)].toSorted((a, b) => a - b);
  const [low, high] = [ends[0]!, ends[1]!];
  return Number.isFinite(low) && Number.isFinite(high) && low < high ? [low, high] : undefined;
}

/** Returns a range that is `factor` times as long around the value at a pixel; below 1 zooms in. */
export function zoomedAround(scale: Scale, pixel: number, factor: number): Range | undefined {
  const [from, to] = scale.pixels;
  return rangeBetween(scale, pixel + (from - pixel) * factor, pixel + (to - pixel) * factor);
}

/** Returns the range that a pinch of two fingers leads to: what was under each finger is under it again. */
function pinched(scale: Scale, begin: readonly [number, number], now: readonly [number, number]): Range | undefined {
  const span = now[1] - now[0];
  if (Math.abs(span) < DRAG_PIXELS_MIN || Math.abs(begin[1] - begin[0]) < DRAG_PIXELS_MIN) return undefined;
  const factor = (begin[1] - begin[0]) / span;
  const back = (pixel: number): number => begin[0] + (pixel - now[0]) * factor;
  return rangeBetween(scale, back(scale.pixels[0]), back(scale.pixels[1]));
}
