import "../../pages/shared-chunk.ts";
import { saveFile } from "../../ui/save-file.ts";
import { inTheme } from "../look/palette.ts";
import { drawScene } from "../scene/canvas.ts";
import { framed, lineFigure, PAPER, type FigureWords } from "../scene/figure.ts";
import type { LegendEntry } from "../scene/legend-entries.ts";
import type { Line } from "../scene/line-model.ts";
import type { LineScene, LineSceneInput } from "../scene/line-scene.ts";
import type { Inks, Scene } from "../scene/scene.ts";
import { svgOf } from "../scene/svg-element.ts";
import { csvOf } from "../scene/table-rows.ts";

/** Pixels of a PNG for each pixel of the chart, so that it prints well. */
const PNG_RATIO = 2;

/** A picture as a file. */
export type PictureKind = "PNG" | "SVG";

/** Stores a line chart as a picture with all that it needs outside of its page, on white paper or without a ground. */
export function downloadLines(
  input: LineSceneInput,
  words: FigureWords,
  kind: PictureKind,
  isTransparent: boolean,
): void {
  const isForced = !input.inks.surface.startsWith("#");
  const onPage = isTransparent && !isForced;
  const inks = onPage ? { ...input.inks, surface: "transparent" } : PAPER;
  const lines = onPage ? input.lines : input.lines.map((line) => ({ ...line, color: inTheme(line.color, "light") }));
  const figure = lineFigure({ ...input, lines, inks, highlight: undefined }, words);
  if (figure !== undefined) void download(figure, words.title, kind);
}

/** Stores another picture with its title and its legend. */
export function downloadScene(
  scene: Scene,
  { title, legend }: { readonly title: string; readonly legend: readonly LegendEntry[] | undefined },
  inks: Inks,
  kind: PictureKind,
): void {
  void download(framed(scene, title, inks, legend), title, kind);
}

async function download(scene: Scene, title: string, kind: PictureKind): Promise<void> {
  if (kind === "SVG") saveFile([svgOf(scene, title)], `${title}.svg`, "image/svg+xml");
  else {
    const blob = await pngOf(scene);
    if (blob !== null) saveFile([blob], `${title}.png`, "image/png");
  }
}

async function pngOf(scene: Scene): Promise<Blob | null> {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(scene.width * PNG_RATIO);
  canvas.height = Math.round(scene.height * PNG_RATIO);
  const context = canvas.getContext("2d")!;
  drawScene(context, scene, PNG_RATIO);
  // Behind the drawing.
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = scene.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** Stores the values that a chart draws. */
export function downloadCsv(lines: readonly Line[], drawn: LineScene, title: string, xName: string): void {
  const text = csvOf(lines, drawn.x.domain, { xName, yName: title });
  saveFile([text], `${title}.csv`, "text/csv");
}
