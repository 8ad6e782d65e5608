import { axesOf } from "../scene/axes-shapes.ts";
import { shortNumber } from "../scene/numbers.ts";
import { rampColor } from "../scene/scale.ts";
import type { Box, Inks, Scene, Shape } from "../scene/scene.ts";
import type { StepBins } from "./bins.ts";

/** A picture of histograms over steps with what is needed to point at a bin of one. */
export type BinsScene = {
  readonly scene: Scene;
  /** Returns the bin at a place in pixels. */
  readonly at: (left: number, top: number) => PointedBin | undefined;
};

/** A bin of the histogram of a step, by their places. */
export type PointedBin = { readonly step: number; readonly bin: number };

/** Colors of cells; more cannot be told apart. */
const LEVELS = 64;

/**
 * Returns the heat map of histograms: steps from left to right, values upwards; the color says which share of the values of its step a bin has. Cells
 * meet in the middle between steps.
 */
export function heatScene(
  bins: StepBins,
  size: { readonly width: number; readonly height: number },
  inks: Inks,
  pointed?: PointedBin,
): BinsScene {
  const { steps, edges, shares, most } = bins;
  const ends = stepEnds(steps);
  const { x, y, plot, shapes } = axesOf(
    size,
    {
      domain: [ends[0]!, ends.at(-1)!],
      log: false,
      kind: steps.every(Number.isInteger) ? "step" : "number",
      label: "Step",
    },
    { domain: [edges[0]!, edges.at(-1)!], log: false, kind: "number" },
    inks,
  );
  const lefts = ends.map((end) => Math.round(x.toPixel(end)));
  const tops = edges.map((edge) => Math.round(y.toPixel(edge)));
  const byLevel = new Map<number, number[]>();
  for (const [s, row] of shares.entries())
    for (const [bin, share] of row.entries()) {
      if (share === 0) continue;
      const level = Math.round((share / most) * LEVELS);
      const boxes = byLevel.get(level) ?? [];
      boxes.push(...cell(s, bin));
      byLevel.set(level, boxes);
    }
  function cell(s: number, bin: number): readonly [number, number, number, number] {
    const [left, top] = [lefts[s]!, tops[bin + 1]!];
    return [left, top, Math.max(1, lefts[s + 1]! - left), Math.max(1, tops[bin]! - top)];
  }
  const inside = [...byLevel].map(([level, boxes]): Shape => ({
    kind: "boxes",
    boxes: Float64Array.from(boxes),
    fill: rampColor(level / LEVELS),
    alpha: 1,
  }));
  if (pointed !== undefined) inside.push(frameOf(cell(pointed.step, pointed.bin), inks));
  const at = (left: number, top: number): PointedBin | undefined => {
    if (!isIn(plot, left, top)) return undefined;
    const [step, bin] = [lefts.findIndex((edge) => edge > left) - 1, tops.findIndex((edge) => edge <= top) - 1];
    return { step: step < 0 ? steps.length - 1 : step, bin: bin < 0 ? edges.length - 2 : bin };
  };
  return { scene: { ...size, background: inks.surface, plot, around: shapes, inside }, at };
}

/** Returns where the cells of steps end: in the middle between neighbors, and as far beyond the first and the last. */
export function stepEnds(steps: readonly number[]): readonly number[] {
  const middles = steps.slice(1).map((step, i) => step / 2 + steps[i]! / 2);
  const [first, last] = [steps[0]!, steps.at(-1)!];
  if (middles.length === 0) return [first - 0.5, last + 0.5];
  return [first - (middles[0]! - first), ...middles, last + (last - middles.at(-1)!)];
}

/** Says what the colors of a heat map are. */
export const heatNote = ({ most }: StepBins): string =>
  `Share of the values of a step: near 0 (dark) to ${shortNumber(Number(most.toPrecision(3)))} (light)`;

function isIn({ left, top, width, height }: Box, x: number, y: number): boolean {
  return x >= left && x <= left + width && y >= top && y <= top + height;
}

function frameOf([left, top, width, height]: readonly [number, number, number, number], { ink }: Inks): Shape {
  const [right, bottom] = [left + width, top + height];
  const points = Float64Array.of(left, top, right, top, right, bottom, left, bottom, left, top);
  return { kind: "path", points, stroke: ink, width: 2, dash: [], alpha: 1 };
}
