import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import "../charts.css";
import { Button } from "../../ui/button.tsx";
import { drawScene } from "../scene/canvas.ts";
import type { LegendEntry } from "../scene/legend-entries.ts";
import type { Scene } from "../scene/scene.ts";
import { attempt } from "../../ui/fault.ts";
import type { PictureKind } from "../section/downloads.ts";
import { pageInks, usePainter } from "../view/canvas-stage.ts";

const PICTURES: readonly PictureKind[] = ["PNG", "SVG"];

/** A picture in its place, with the parts next to it. */
export function Stage({
  place,
  title,
  summary,
  scene,
  height,
  announced,
  notes = [],
  legend,
  onPoint,
  onLeave,
  onPress,
  onRelease,
  onKeyDown,
  children,
}: {
  readonly place: RefObject<HTMLDivElement | null>;
  readonly title: string;
  /** Its content, in a sentence. */
  readonly summary: string;
  readonly scene: Scene | undefined;
  readonly height: number;
  /** The text that is announced at the moment. */
  readonly announced: string;
  readonly notes?: readonly string[];
  /** What a saved picture says of its colors. */
  readonly legend?: readonly LegendEntry[] | undefined;
  readonly onPoint: (left: number, top: number) => void;
  readonly onLeave?: () => void;
  readonly onPress?: (left: number, top: number) => void;
  readonly onRelease?: () => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  readonly children?: ComponentChildren;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = scene ?? { width: 0, height: 0 };
  const paint = usePainter(canvas, size, (context, ratio) => {
    if (scene !== undefined) drawScene(context, scene, ratio);
  });
  useLayoutEffect(paint, [scene]);
  const at = (event: PointerEvent): [number, number] => {
    const { left, top } = place.current!.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  return (
    <figure class="tm-stage">
      <div
        ref={place}
        class="tm-chart-plot"
        style={{ height: `${height}px` }}
        tabIndex={0}
        role="img"
        aria-label={summary}
        onPointerMove={(event) => onPoint(...at(event))}
        onPointerDown={(event) => {
          place.current?.setPointerCapture(event.pointerId);
          onPress?.(...at(event));
          onPoint(...at(event));
        }}
        onPointerUp={() => onRelease?.()}
        onPointerCancel={() => onRelease?.()}
        onPointerLeave={() => onLeave?.()}
        onKeyDown={onKeyDown}
      >
        <canvas ref={canvas} aria-hidden="true" />
        {scene === undefined && <p class="tm-chart-empty">No values here.</p>}
      </div>
      <figcaption>
        <span aria-live="polite">{announced === "" ? notes.join(". ") : announced}</span>
        {scene !== undefined && (
          <>
            {PICTURES.map((kind) => (
              <Button
                key={kind}
                kind="quiet"
                size="s"
                icon="download"
                onClick={() =>
                  void attempt(async () => {
                    const { downloadScene } = await import("../section/downloads.ts");
                    downloadScene(scene, { title, legend }, pageInks.peek(), kind);
                  })
                }
              >
                {kind}
              </Button>
            ))}
          </>
        )}
        {children}
      </figcaption>
    </figure>
  );
}
