import { axesOf, text } from "./axes-shapes.ts";
import { shortNumber } from "./numbers.ts";
import { rampColor, RAMP_STEPS } from "./ramp.ts";
import type { Scale } from "./scale.ts";
import type { Inks, Scene, Shape } from "./scene.ts";

/** Values of rows, such as ranks, over steps. */
export type HeatmapData = {
  /** Ascending. */
  readonly steps: Float64Array;
  readonly rows: readonly { readonly name: string; readonly values: Float64Array }[];
};

/** A picture of a heatmap with what is needed to point at it. */
export type HeatmapScene = {
  readonly scene: Scene;
  readonly x: Scale;
  readonly range: readonly [number, number];
  /** The row and the column at a place in pixels; undefined beside the picture. */
  readonly at: (left: number, top: number) => { readonly row: number; readonly column: number } | undefined;
};

/** Returns the picture of a heatmap: a row for each row of the data, a column for each step; undefined where there is no value. */
export function heatmapScene(
  { steps, rows }: HeatmapData,
  size: { readonly width: number; readonly height: number },
  inks: Inks,
): HeatmapScene | undefined {
  let [low, high] = [Infinity, -Infinity];
  for (const { values } of rows)
    for (const value of values) {
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  if (low > high || steps.length === 0) return undefined;
  const edges = edgesOf(steps);
  const domain = [edges[0]!, edges.at(-1)!] as const;
  const { x, plot, shapes } = axesOf(
    size,
    { domain, log: false, kind: "number", label: `${shortNumber(low)} dark to ${shortNumber(high)} light` },
    { domain: [0, rows.length], log: false, kind: "number" },
    inks,
  );
  const rowHeight = plot.height / rows.length;
  const boxes = Array.from({ length: RAMP_STEPS }, (): number[] => []);
  rows.forEach(({ values }, row) => {
    const top = plot.top + row * rowHeight;
    values.forEach((value, column) => {
      if (!Number.isFinite(value) || column >= steps.length) return;
      const share = high === low ? 0.5 : (value - low) / (high - low);
      const [left, right] = [x.toPixel(edges[column]!), x.toPixel(edges[column + 1]!)];
      boxes[Math.min(RAMP_STEPS - 1, Math.floor(share * RAMP_STEPS))]!.push(
        left,
        top,
        Math.max(0.5, right - left + 0.2),
        rowHeight + 0.2,
      );
    });
  });
  const inside = boxes.flatMap((list, i): Shape[] =>
    list.length === 0
      ? []
      : [{ kind: "boxes", boxes: Float64Array.from(list), fill: rampColor(i / (RAMP_STEPS - 1)), alpha: 1 }],
  );
  // The rows have names; the numbers and lines of the vertical axis mean nothing.
  const around = [
    ...shapes.filter((shape) => !(shape.kind === "text" && shape.anchor === "end") && !isRow(shape)),
    ...rowNames(rows, plot, inks),
  ];
  const at = (left: number, top: number): { row: number; column: number } | undefined => {
    const row = Math.floor((top - plot.top) / rowHeight);
    const value = x.toValue(left);
    const column = edges.findLastIndex((edge) => edge <= value);
    return row < 0 || row >= rows.length || column < 0 || column >= steps.length ? undefined : { row, column };
  };
  return { scene: { ...size, background: inks.surface, plot, around, inside }, x, range: [low, high], at };
}

const isRow = (shape: Shape): boolean =>
  shape.kind === "path" && shape.points[1] === shape.points[3] && shape.points[0] !== shape.points[2];

const NAMES_APART = 14;

function rowNames(rows: HeatmapData["rows"], plot: Scene["plot"], inks: Inks): Shape[] {
  const height = plot.height / rows.length;
  const every = Math.max(1, Math.ceil(NAMES_APART / height));
  return rows.flatMap(({ name }, i) =>
    i % every === 0 ? [text(name, plot.left - 6, plot.top + (i + 0.5) * height + 4, "end", inks.faint)] : [],
  );
}

/** Returns where columns begin and end: half way to their neighbors. */
export function edgesOf(steps: Float64Array): Float64Array {
  const count = steps.length;
  return Float64Array.from({ length: count + 1 }, (_, i) => {
    if (count === 1) return steps[0]! - 0.5 + i;
    if (i === 0) return steps[0]! - (steps[1]! - steps[0]!) / 2;
    if (i === count) return steps[count - 1]! + (steps[count - 1]! - steps[count - 2]!) / 2;
    return (steps[i - 1]! + steps[i]!) / 2;
  });
}
