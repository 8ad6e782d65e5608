import { text } from "../scene/axes-shapes.ts";
import { shortNumber } from "../scene/numbers.ts";
import { CHARACTER_PIXELS, type Box, type Inks, type Shape } from "../scene/scene.ts";
import type { StepBins } from "./bins.ts";
import type { BinsScene, PointedBin } from "./heat-scene.ts";
import { AXIS_PIXELS, valueAxis } from "./value-axis.ts";

/** The part of the height that the tallest ridge takes. */
const PEAK = 0.32;
const MARGIN = { top: 8, right: 14 } as const;
/** Pixels between the names of steps. */
const NAMES_APART = 15;

/**
 * Returns histograms as ridges behind each other: values from left to right, the first step at the back. All have one scale: the height of a ridge is the
 * share of the values of its step. Ridges are equally far apart; their steps are named at the side.
 */
export function ridgeScene(
  bins: StepBins,
  color: string,
  size: { readonly width: number; readonly height: number },
  inks: Inks,
  pointed?: PointedBin,
): BinsScene {
  const { steps, edges, shares, most } = bins;
  const names = steps.map((step) => shortNumber(step));
  const left = Math.ceil(12 + CHARACTER_PIXELS * Math.max(4, ...names.map((name) => name.length)));
  const bottom = size.height - AXIS_PIXELS.numbers;
  const right = Math.max(left + 20, size.width - MARGIN.right);
  const { x, shapes } = valueAxis(
    [edges[0]!, edges.at(-1)!],
    { left, right, top: MARGIN.top, bottom },
    undefined,
    inks,
  );
  const plot: Box = { left, top: MARGIN.top, width: right - left, height: bottom - MARGIN.top };
  const peak = steps.length === 1 ? plot.height : plot.height * PEAK;
  const apart = steps.length === 1 ? 0 : (plot.height - peak) / (steps.length - 1);
  const bases = steps.map((_, s) => bottom - apart * (steps.length - 1 - s));
  const middles = edges.slice(1).map((edge, i) => x.toPixel(edge / 2 + edges[i]! / 2));
  const inside: Shape[] = [];
  const around = [...shapes];
  let named = Infinity;
  for (const [s, base] of [...bases.entries()].toReversed()) {
    if (named - base < NAMES_APART) continue;
    named = base;
    around.push(text(names[s]!, left - 6, base + 4, "end", inks.faint));
  }
  for (const [s, row] of shares.entries()) {
    const base = bases[s]!;
    const heights = row.map((share) => base - (most === 0 ? 0 : (share / most) * peak));
    const ridge = [x.toPixel(edges[0]!), base, ...middles.flatMap((middle, bin) => [middle, heights[bin]!])];
    const points = Float64Array.from([...ridge, x.toPixel(edges.at(-1)!), base]);
    const isOne = pointed?.step === s;
    inside.push(
      // It hides those behind it.
      { kind: "area", points, fill: inks.surface, alpha: 0.85 },
      { kind: "area", points, fill: color, alpha: isOne ? 0.6 : 0.3 },
      {
        kind: "path",
        points,
        stroke: isOne ? inks.ink : color,
        width: isOne ? 2 : 1,
        dash: [],
        alpha: 1,
        label: `Step ${steps[s]!}`,
      },
    );
    if (isOne)
      inside.push({
        kind: "dots",
        points: Float64Array.of(middles[pointed.bin]!, heights[pointed.bin]!),
        fill: inks.ink,
        radius: 4,
        alpha: 1,
      });
  }
  const at = (pointLeft: number, pointTop: number): PointedBin | undefined => {
    if (pointLeft < left || pointLeft > right || pointTop < plot.top || pointTop > bottom + 4) return undefined;
    const step = bases.findIndex((base) => base >= pointTop);
    const bin = Math.min(middles.length - 1, Math.floor(((pointLeft - left) / plot.width) * middles.length));
    return { step: step < 0 ? steps.length - 1 : step, bin };
  };
  return { scene: { ...size, background: inks.surface, plot, around, inside }, at };
}
