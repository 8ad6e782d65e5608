import type { RefObject } from "preact";
import { useSignalEffect } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../ui/use-width.ts";
import "./charts.css";
import { drawScene } from "./scene/canvas.ts";
import type { Axes, Line } from "./scene/line-model.ts";
import { lineScene, type LineScene, type LineSceneInput } from "./scene/line-scene.ts";
import type { Range } from "./scene/scale.ts";
import { pageInks, usePainter } from "./view/canvas-stage.ts";
import { drawPointed, summaryOf } from "./view/readings.ts";
import { useChartKeys } from "./view/use-chart-keys.ts";
import { createLink, useChartPointer, type ChartLink } from "./view/chart-pointer.ts";
import { Tooltip } from "./view/tooltip.tsx";

/** What surrounding parts, such as downloads, can request of a chart. */
export type ChartHandle = {
  readonly drawn: () => LineScene | undefined;
  /** What it is drawn from. */
  readonly input: () => LineSceneInput;
};

/** The content of a line chart. */
export type LineChartProps = {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly axes: Axes;
  /** In pixels; the width is that of its container. */
  readonly height?: number;
  /** Shared by charts that show the crosshair together. */
  readonly link?: ChartLink;
  /** The id of a highlighted line. */
  readonly highlight?: string | undefined;
  readonly onZoomX?: ((range: Range | undefined) => void) | undefined;
  readonly onHighlight?: ((id: string | undefined) => void) | undefined;
  readonly handle?: RefObject<ChartHandle | undefined>;
};

/** A line chart on a canvas: pointer, finger and keyboard show values and zoom. */
export function LineChart({
  title,
  lines,
  axes: given,
  height = 220,
  link: shared,
  highlight,
  onZoomX,
  onHighlight,
  handle,
}: LineChartProps) {
  const id = useId();
  const own = useMemo(createLink, []);
  const link = shared ?? own;
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const width = useWidth(place);
  const [zoomY, setZoomY] = useState<Range | undefined>(undefined);
  const inks = pageInks.value;
  const size = { width, height };
  const axes: Axes = { ...given, zoomY: zoomY ?? given.zoomY };
  const drawn = useMemo(
    () => (width === 0 ? undefined : lineScene({ lines, axes, size, inks, highlight })),
    [lines, JSON.stringify(axes), width, height, inks, highlight],
  );
  const latest = useRef({ drawn, lines, axes });
  latest.current = { drawn, lines, axes };
  if (handle !== undefined)
    handle.current = { drawn: () => latest.current.drawn, input: () => ({ lines, axes, size, inks, highlight }) };

  const paint = usePainter(canvas, size, (context, ratio) => {
    if (latest.current.drawn !== undefined) drawScene(context, latest.current.drawn.scene, ratio);
    else context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  });
  const drag = useChartPointer({ id, place, link, latest, onZoomX, setZoomY, repaint: () => paintOverlay() });
  const paintOverlay = usePainter(overlay, size, (context, ratio) => {
    const pointed = link.pointed.peek();
    drawPointed(context, ratio, {
      ...latest.current,
      size,
      pointed,
      isOwn: pointed?.chart === id,
      drag: drag.current,
      inks: pageInks.peek(),
    });
  });
  useLayoutEffect(() => {
    paint();
    paintOverlay();
  }, [drawn]);
  useSignalEffect(() => {
    void link.pointed.value;
    paintOverlay();
  });
  // A screen of another density repaints.
  useEffect(() => {
    const again = (): void => {
      paint();
      paintOverlay();
    };
    addEventListener("resize", again);
    return () => removeEventListener("resize", again);
  }, []);

  const { announced, onKeyDown } = useChartKeys({ id, link, latest, onZoomX, setZoomY });
  return (
    <div class="tm-chart">
      <div
        ref={place}
        class="tm-chart-plot"
        style={{ height: `${height}px` }}
        tabIndex={0}
        role="img"
        aria-roledescription="chart"
        aria-label={summaryOf(title, lines, drawn, given)}
        data-x={drawn === undefined ? undefined : drawn.x.domain.join(" ")}
        data-y={drawn === undefined ? undefined : drawn.y.domain.join(" ")}
        data-left={drawn?.scene.plot.left}
        onKeyDown={onKeyDown}
      >
        <canvas ref={canvas} aria-hidden="true" />
        <canvas ref={overlay} aria-hidden="true" />
        {drawn === undefined && width > 0 && <p class="tm-chart-empty">No points here.</p>}
      </div>
      {drawn !== undefined && (
        <Tooltip id={id} link={link} lines={lines} drawn={drawn} axes={axes} plot={place} onHighlight={onHighlight} />
      )}
      {drawn !== undefined && drawn.notes.length > 0 && <p class="tm-chart-notes">{drawn.notes.join(". ")}.</p>}
      <p class="tm-chart-hidden" aria-live="polite">
        {announced}
      </p>
    </div>
  );
}
