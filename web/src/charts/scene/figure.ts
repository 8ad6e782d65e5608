import { text } from "./axes-shapes.ts";
import type { LegendEntry } from "./legend-entries.ts";
import { lineScene, type LineSceneInput } from "./line-scene.ts";
import { shortName } from "./names.ts";
import { counted } from "./numbers.ts";
import { CHARACTER_PIXELS, type Inks, type Scene, type Shape } from "./scene.ts";

/** What a picture needs outside of its page. */
export type FigureWords = { readonly title: string; readonly xLabel: string; readonly yLabel: string };

/** The colors of a picture on white paper. */
export const PAPER: Inks = { surface: "#ffffff", ink: "#10212b", faint: "#445762", rule: "#dbe3e6" };

/** A figure has at least this size, so that its words do not crowd the plot. */
const SIZE_MIN = { width: 720, height: 360 } as const;
const SIDE = 16;
const TITLE = { size: 15, height: 40 } as const;
const ENTRY = { height: 18, swatch: 22, gap: 6, apart: 16 } as const;
/** Lines that a legend names, and characters of a name. */
const NAMED_MAX = 60;
const NAME_MAX = 60;

/** Returns a line chart with its title, the names of its axes and a legend; undefined where nothing can be drawn. */
export function lineFigure(input: LineSceneInput, { title, xLabel, yLabel }: FigureWords): Scene | undefined {
  const { axes, size, lines, inks } = input;
  const drawn = lineScene({
    ...input,
    axes: { ...axes, x: { ...axes.x, label: xLabel }, y: { ...axes.y, label: yLabel } },
    size: { width: Math.max(size.width, SIZE_MIN.width), height: Math.max(size.height, SIZE_MIN.height) },
  });
  return drawn === undefined ? undefined : framed(drawn.scene, title, inks, lines);
}

/** Returns a picture below its title and above a legend. */
export function framed(scene: Scene, title: string, inks: Inks, entries: readonly LegendEntry[] = []): Scene {
  const { plot, width } = scene;
  const { shapes, height } = legendOf(entries, width, inks);
  const [dx, dy] = [SIDE, TITLE.height];
  const below = dy + scene.height + ENTRY.apart / 2;
  const outer = width + 2 * SIDE;
  return {
    width: outer,
    height: below + height + SIDE,
    background: scene.background,
    plot: { ...plot, left: plot.left + dx, top: plot.top + dy },
    around: [
      { ...text(title, outer / 2, TITLE.height - 16, "middle", inks.ink), bold: true, size: TITLE.size },
      ...scene.around.map((shape) => moved(shape, dx, dy)),
      ...shapes.map((shape) => moved(shape, dx, below)),
    ],
    inside: scene.inside.map((shape) => moved(shape, dx, dy)),
  };
}

/** Returns the names of entries in columns as wide as the longest. */
function legendOf(
  entries: readonly LegendEntry[],
  width: number,
  { ink }: Inks,
): { readonly shapes: readonly Shape[]; readonly height: number } {
  const names = entries.slice(0, NAMED_MAX).map(({ name }) => shortName(name, NAME_MAX));
  const before = ENTRY.swatch + ENTRY.gap;
  const longest = Math.max(0, ...names.map(({ length }) => length));
  const column = before + longest * CHARACTER_PIXELS + ENTRY.apart;
  const columns = Math.max(1, Math.min(names.length, Math.floor((width + ENTRY.apart) / column)));
  const shapes = names.flatMap((name, i): Shape[] => {
    const [left, top] = [(i % columns) * column, Math.floor(i / columns) * ENTRY.height + ENTRY.height / 2];
    const { color, dash } = entries[i]!;
    const swatch: Shape =
      dash === undefined
        ? { kind: "dots", points: Float64Array.of(left + ENTRY.swatch / 2, top), fill: color, radius: 4, alpha: 1 }
        : {
            kind: "path",
            points: Float64Array.of(left, top, left + ENTRY.swatch, top),
            stroke: color,
            width: 2,
            dash,
            alpha: 1,
          };
    return [swatch, text(name, left + before, top + 4, "start", ink)];
  });
  const rows = Math.ceil(names.length / columns) || 0;
  const left = entries.length - names.length;
  if (left > 0)
    shapes.push(text(moreWords(left, entries[0]?.dash !== undefined), 0, rows * ENTRY.height + 13, "start", ink));
  return { shapes, height: (rows + (left > 0 ? 1 : 0)) * ENTRY.height };
}

const moreWords = (left: number, areLines: boolean): string =>
  areLines ? `and ${counted(left, "more line")}` : `and ${left.toLocaleString("en-US")} more`;

/** Returns a shape at another place. */
function moved(shape: Shape, dx: number, dy: number): Shape {
  switch (shape.kind) {
    case "text":
      return { ...shape, x: shape.x + dx, y: shape.y + dy };
    case "boxes":
      return { ...shape, boxes: shape.boxes.map((part, i) => part + (i % 4 === 0 ? dx : i % 4 === 1 ? dy : 0)) };
    default:
      return { ...shape, points: shape.points.map((part, i) => part + (i % 2 === 0 ? dx : dy)) };
  }
}
