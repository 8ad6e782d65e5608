import { axesOf } from "./axes-shapes.ts";
import { extentOf, type Extent } from "./extent.ts";
import type { Axes, Line } from "./line-model.ts";
import { lineShapes } from "./line-shapes.ts";
import { notFiniteMarks, notFiniteNote } from "./not-finite.ts";
import { counted, shortNumber } from "./numbers.ts";
import type { Scale } from "./scale.ts";
import type { Inks, Scene, Shape } from "./scene.ts";

/** A picture of lines with the data needed to point at them. */
export type LineScene = {
  readonly scene: Scene;
  readonly x: Scale;
  readonly y: Scale;
  readonly extent: Extent;
  /** Notes for the user about data that is not drawn. */
  readonly notes: readonly string[];
};

/** The input of a picture of lines. */
export type LineSceneInput = {
  readonly lines: readonly Line[];
  readonly axes: Axes;
  readonly size: { readonly width: number; readonly height: number };
  readonly inks: Inks;
  readonly highlight?: string | undefined;
};

/** Returns the picture of lines; undefined where nothing can be drawn. */
export function lineScene({ lines, axes, size, inks, highlight }: LineSceneInput): LineScene | undefined {
  const extent = extentOf(lines, axes);
  if (extent === undefined) return undefined;
  const { x, y, plot, shapes } = axesOf(
    size,
    { domain: extent.x, log: axes.x.log, kind: axes.x.kind, label: axes.x.label, offsetMinutes: axes.offsetMinutes },
    { domain: extent.y, log: axes.y.log, kind: "number", label: axes.y.label },
    inks,
  );
  const isKnown = highlight !== undefined && lines.some(({ id }) => id === highlight);
  const inside: Shape[] = lines.flatMap((line) =>
    isKnown && line.id === highlight ? [] : lineShapes(line, x, y, isKnown ? "dimmed" : "usual"),
  );
  // The highlighted line lies above all others.
  for (const line of lines) if (isKnown && line.id === highlight) inside.push(...lineShapes(line, x, y, "highlighted"));
  inside.push(...notFiniteMarks(lines, x, plot));
  const scene: Scene = { ...size, background: inks.surface, plot, around: shapes, inside };
  return { scene, x, y, extent, notes: notesOf(extent) };
}

/** Describes in sentences which data is not drawn. */
function notesOf({ droppedX, droppedY, droppedAtLeast, cut, cutTo, notFinite }: Extent): string[] {
  const notes: string[] = [];
  if (droppedX > 0) notes.push(`${counted(droppedX, "point")} not above 0 left out by the logarithmic x axis`);
  if (droppedY > 0)
    notes.push(
      `${droppedAtLeast ? "At least " : ""}${counted(droppedY, "point")} not above 0 left out by the logarithmic y axis`,
    );
  if (cut > 0 && cutTo !== undefined)
    notes.push(
      `${counted(cut, "outlier")} beyond the axis, which would reach from ${cutTo.map(shortNumber).join(" to ")}`,
    );
  const marked = notFiniteNote(notFinite);
  return marked === "" ? notes : [...notes, marked];
}
