import { saveFile } from "../../ui/save-file.ts";
import { drawScene } from "../scene/canvas.ts";
import { csvOf } from "../scene/table-rows.ts";
import type { Line } from "../scene/line-model.ts";
import type { LineScene } from "../scene/line-scene.ts";
import type { Scene } from "../scene/scene.ts";
import { svgOf } from "../scene/svg-element.ts";

/** Pixels of a PNG for each pixel of the chart, so that it prints well. */
const PNG_RATIO = 2;

/** Stores a picture as SVG. */
export function downloadSvg(scene: Scene, title: string): void {
  saveFile([svgOf(scene, title)], `${title}.svg`, "image/svg+xml");
}

/** Stores a picture as PNG. */
export async function downloadPng(scene: Scene, title: string): Promise<void> {
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(scene.width * PNG_RATIO);
  canvas.height = Math.round(scene.height * PNG_RATIO);
  const context = canvas.getContext("2d")!;
  drawScene(context, scene, PNG_RATIO);
  // Behind the drawing, because a picture without a background is black in many viewers.
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = scene.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob !== null) saveFile([blob], `${title}.png`, "image/png");
}

/** Stores the values that a chart draws. */
export function downloadCsv(lines: readonly Line[], drawn: LineScene, title: string, xName: string): void {
  const text = csvOf(lines, drawn.x.domain, { xName, yName: title });
  saveFile([text], `${title}.csv`, "text/csv");
}
