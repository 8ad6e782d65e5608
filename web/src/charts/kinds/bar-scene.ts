import { text } from "../scene/axes-shapes.ts";
import { shortName } from "../scene/names.ts";
import { counted, shortNumber } from "../scene/numbers.ts";
import { widened, type Scale } from "../scene/scale.ts";
import { CHARACTER_PIXELS, type Box, type Inks, type Scene, type Shape } from "../scene/scene.ts";
import { barsDomain, type DrawnBars } from "./bars.ts";
import { AXIS_PIXELS, thinLine, valueAxis } from "./value-axis.ts";

/** Pixels of the row of a bar, and of the bar in it. */
const ROW = 24;
const THICK = 14;
const MARGIN = { top: 6, right: 12, bottom: AXIS_PIXELS.numbers + AXIS_PIXELS.name } as const;
/** Room between an end of the axis and the longest bar, for the text of its value. */
const ROOM = 0.04;
const VALUE_PIXELS = 64;
/** The part of the width that names may take. */
const NAMES_SHARE = 0.38;

/** Returns the height of a picture with this many bars. */
export const barsHeight = (count: number): number => MARGIN.top + ROW * Math.max(1, count) + MARGIN.bottom;

/** A picture of bars with the rows that can be pointed at. */
export type BarScene = {
  readonly scene: Scene;
  readonly x: Scale;
  /** Where the row of each bar begins, in pixels. */
  readonly rows: readonly { readonly id: string; readonly top: number }[];
};

/** Returns the picture of horizontal bars from 0; the deviations of groups are whiskers. Undefined without a bar. */
export function barScene(
  { drawn }: Pick<DrawnBars, "drawn">,
  label: string,
  width: number,
  inks: Inks,
  highlight?: string,
): BarScene | undefined {
  if (drawn.length === 0) return undefined;
  const height = barsHeight(drawn.length);
  const most = Math.max(6, Math.floor((width * NAMES_SHARE) / CHARACTER_PIXELS));
  const names = drawn.map(({ name }) => shortName(name, most));
  const left = Math.ceil(12 + CHARACTER_PIXELS * Math.max(3, ...names.map((name) => Array.from(name).length)));
  const right = Math.max(left + 40, width - MARGIN.right - VALUE_PIXELS);
  const bottom = height - MARGIN.bottom;
  const ends = barsDomain(drawn);
  const wide = widened(ends, ROOM);
  const { x, shapes } = valueAxis(
    [ends[0] < 0 ? wide[0] : 0, ends[1] > 0 ? wide[1] : 0],
    { left, right, top: MARGIN.top, bottom },
    label,
    inks,
  );
  const plot: Box = { left, top: MARGIN.top, width: right + VALUE_PIXELS - left, height: bottom - MARGIN.top };
  const zero = x.toPixel(0);
  const around: Shape[] = [...shapes, thinLine([zero, MARGIN.top, zero, bottom], inks.faint)];
  const isOne = highlight !== undefined && drawn.some(({ id }) => id === highlight);
  const inside: Shape[] = [];
  const rows = drawn.map(({ id, name, color, value, spread }, i) => {
    const top = MARGIN.top + ROW * i;
    const middle = top + ROW / 2;
    const end = x.toPixel(value);
    const alpha = isOne && id !== highlight ? 0.3 : 0.9;
    const from = Math.min(zero, end);
    inside.push({
      kind: "boxes",
      boxes: Float64Array.of(from, middle - THICK / 2, Math.max(1, Math.abs(end - zero)), THICK),
      fill: color,
      alpha,
    });
    const std = spread?.std ?? 0;
    const reach = Math.max(end, zero, x.toPixel(value + std));
    if (std > 0) inside.push(whisker(x.toPixel(value - std), x.toPixel(value + std), middle, inks.ink));
    around.push(text(shortName(name, most), left - 6, middle + 4, "end", id === highlight ? inks.ink : inks.faint));
    around.push(text(shortNumber(value), reach + 6, middle + 4, "start", inks.ink));
    return { id, top };
  });
  return { scene: { width, height, background: inks.surface, plot, around, inside }, x, rows };
}

/** Returns the id of the bar in a row of the picture. */
export function barAt({ rows }: BarScene, top: number): string | undefined {
  return rows.find((row) => top >= row.top && top < row.top + ROW)?.id;
}

/** Says what is not drawn. */
export function barNotes({ empty, beyond, drawn }: DrawnBars, what: string): readonly string[] {
  return [
    ...(empty > 0 ? [`${counted(empty, what)} without a value`] : []),
    ...(beyond > 0 ? [`The first ${drawn.length} of ${counted(drawn.length + beyond, what)} are drawn`] : []),
  ];
}

function whisker(from: number, to: number, middle: number, stroke: string): Shape {
  const points = [from, middle, to, middle, NaN, NaN, from, middle - 4, from, middle + 4, NaN, NaN];
  return thinLine([...points, to, middle - 4, to, middle + 4], stroke);
}
