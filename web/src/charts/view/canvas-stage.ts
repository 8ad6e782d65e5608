import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Draws into a canvas at most once for each frame, the latest that was asked for; `draw` gets how many pixels of the device a pixel has. */
export function usePainter(
  canvas: RefObject<HTMLCanvasElement | null>,
  size: { readonly width: number; readonly height: number },
  draw: (context: CanvasRenderingContext2D, ratio: number) => void,
): () => void {
  const latest = useRef({ draw, size });
  latest.current = { draw, size };
  const frame = useRef(0);
  const paint = useRef(() => {
    if (frame.current !== 0) return;
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      const element = canvas.current;
      const context = element?.getContext("2d") ?? null;
      if (element === null || context === null) return;
      const { width, height } = latest.current.size;
      const ratio = devicePixelRatio || 1;
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (element.width !== w) element.width = w;
      if (element.height !== h) element.height = h;
      latest.current.draw(context, ratio);
    });
  });
  useLayoutEffect(
    () => () => {
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    },
    [],
  );
  return paint.current;
}
