import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { signal, type ReadonlySignal } from "@preact/signals";
import type { ThemeName } from "../look/palette.ts";
import type { Inks } from "../scene/scene.ts";

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

/** Colors of the page as canvases take them. */
export type PageInks = Inks & { readonly theme: ThemeName; readonly accent: string };

const FORCED = "(forced-colors: active)";

function read(): PageInks {
  const root = document.documentElement;
  const isForced = matchMedia(FORCED).matches;
  if (isForced) {
    const theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    return { theme, surface: "Canvas", ink: "CanvasText", faint: "CanvasText", rule: "GrayText", accent: "Highlight" };
  }
  const style = getComputedStyle(root);
  const value = (name: string): string => style.getPropertyValue(name).trim() || "#808080";
  return {
    theme: root.dataset["theme"] === "dark" ? "dark" : "light",
    surface: value("--surface"),
    ink: value("--ink"),
    faint: value("--ink-3"),
    rule: value("--line"),
    accent: value("--accent"),
  };
}

const inks = signal<PageInks>(read());
const renew = (): void => {
  inks.value = read();
};
new MutationObserver(renew).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
for (const query of [FORCED, "(prefers-color-scheme: dark)"]) matchMedia(query).addEventListener("change", renew);
// Style sheets may load after this code.
addEventListener("load", renew);

/** The colors of the page, which follow its theme. */
export const pageInks: ReadonlySignal<PageInks> = inks;
