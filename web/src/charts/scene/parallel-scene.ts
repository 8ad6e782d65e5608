import { text } from "./axes-shapes.ts";
import type { LegendEntry } from "./legend-entries.ts";
import { shortNumber } from "./numbers.ts";
import { rampColor, scaleOf, widened, type Range, type Scale } from "./scale.ts";
import { CHARACTER_PIXELS, type Inks, type Scene, type Shape } from "./scene.ts";
import { linearTicks, logTicks } from "./ticks.ts";

/** A column of runs: numbers or texts. */
export type ParallelColumn = { readonly name: string; readonly log?: boolean };

/** A run with a value for each column; null where it has none. */
export type ParallelRun = {
  readonly id: string;
  readonly name: string;
  readonly values: readonly (number | string | null)[];
};

/** A column in the picture. */
export type ParallelAxis = {
  readonly name: string;
  readonly left: number;
  readonly top: number;
  readonly bottom: number;
  /** Where a value is; undefined for values without a place. */
  readonly place: (value: number | string | null) => number | undefined;
};

/** A picture of runs over columns with the data needed to brush them. */
export type ParallelScene = {
  readonly scene: Scene;
  readonly axes: readonly ParallelAxis[];
  readonly selected: readonly string[];
  /** What the colors mean, for a picture outside of its page. */
  readonly legend: readonly LegendEntry[];
};

/** The brushed range of a column, from one height to another in pixels. */
export type Brushes = ReadonlyMap<string, Range>;

const MARGIN = { top: 30, bottom: 14, side: 56 } as const;
const TICKS_APART = 40;
/** A drag that ends this many pixels from a value includes it: users do not hit the end of a column exactly. */
const SLACK = 3;
const CATEGORIES_MAX = 40;

/** Returns the picture of runs over columns. The last column gives the colors. Runs outside of the brushed ranges are faint. */
export function parallelScene(
  columns: readonly ParallelColumn[],
  runs: readonly ParallelRun[],
  brushes: Brushes,
  size: { readonly width: number; readonly height: number },
  inks: Inks,
): ParallelScene {
  const { width, height } = size;
  const [top, bottom] = [MARGIN.top, height - MARGIN.bottom];
  const last = columns.length - 1;
  const distance = columns.length < 2 ? 0 : (width - 2 * MARGIN.side) / (columns.length - 1);
  const around: Shape[] = [];
  const axes = columns.map((column, i): ParallelAxis => {
    const left = MARGIN.side + i * distance;
    const values = runs.map((run) => run.values[i] ?? null);
    const { place, ticks } = placesOf(values, [bottom, top], column.log === true);
    around.push({
      kind: "path",
      points: Float64Array.of(left, top, left, bottom),
      stroke: inks.faint,
      width: 1,
      dash: [],
      alpha: 1,
    });
    const room = Math.max(4, Math.floor((distance || width) / CHARACTER_PIXELS) - 2);
    const [at, anchor] =
      i === 0 ? [0, "start" as const] : i === last ? [width, "end" as const] : [left, "middle" as const];
    const nameRoom = anchor === "middle" ? room : Math.floor((MARGIN.side + distance / 2) / CHARACTER_PIXELS) - 1;
    around.push({ ...text(shortened(column.name, nameRoom), at, top - 14, anchor, inks.ink), bold: true });
    for (const tick of ticks) around.push(text(shortened(tick.label, room), left - 6, tick.at + 4, "end", inks.faint));
    return { name: column.name, left, top, bottom, place };
  });
  const isIn = ({ values }: ParallelRun): boolean =>
    axes.every(({ name, place }, i) => {
      const brush = brushes.get(name);
      const at = place(values[i] ?? null);
      return brush === undefined || (at !== undefined && at >= brush[0] - SLACK && at <= brush[1] + SLACK);
    });
  const colorOf = (value: number | string | null): string => {
    const end = axes.at(-1)?.place(value);
    return end === undefined ? inks.faint : rampColor((bottom - end) / (bottom - top));
  };
  const inside: Shape[] = [];
  const selected: string[] = [];
  for (const run of runs) {
    const points = run.values.flatMap((value, i) => {
      const at = axes[i]?.place(value);
      return at === undefined ? [Number.NaN, Number.NaN] : [axes[i]!.left, at];
    });
    const chosen = isIn(run);
    if (chosen) selected.push(run.id);
    inside.push({
      kind: "path",
      points: Float64Array.from(points),
      stroke: chosen ? colorOf(run.values.at(-1) ?? null) : inks.faint,
      width: 1.25,
      dash: [],
      alpha: chosen ? 0.75 : 0.12,
      label: run.name,
    });
  }
  for (const { name, left } of axes) {
    const brush = brushes.get(name);
    if (brush !== undefined)
      inside.push({
        kind: "boxes",
        boxes: Float64Array.of(left - 7, brush[0], 14, brush[1] - brush[0]),
        fill: inks.ink,
        alpha: 0.2,
      });
  }
  const plot = { left: 0, top: 0, width, height };
  const name = columns[last]?.name ?? "";
  const legend = endValues(runs.map((run) => run.values[last] ?? null)).map((value) => ({
    name: `${name}: ${typeof value === "number" ? shortNumber(value) : (value ?? "none")}`,
    color: colorOf(value),
  }));
  return { scene: { ...size, background: inks.surface, plot, around, inside }, axes, selected, legend };
}

/** Returns the values that explain the colors of a column: each text, or the least and the greatest number; null where runs have none. */
function endValues(values: readonly (number | string | null)[]): readonly (number | string | null)[] {
  const known = [...new Set(values.filter((value) => value !== null))];
  const isText = known.some((value) => typeof value === "string");
  const sorted = isText ? known.map(String).toSorted() : (known as number[]).toSorted((a, b) => a - b);
  const ends = isText || sorted.length <= 2 ? sorted : [sorted[0]!, sorted.at(-1)!];
  return [...new Set(ends), ...(known.length === 0 || !values.includes(null) ? [] : [null])];
}

type Places = {
  readonly place: ParallelAxis["place"];
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
};

function placesOf(values: readonly (number | string | null)[], pixels: Range, log: boolean): Places {
  const texts = values.filter((value) => typeof value === "string");
  if (texts.length > 0)
    return categories([...new Set(values.filter((value) => value !== null).map(String))].toSorted(), pixels);
  const numbers = values.filter(
    (value): value is number => typeof value === "number" && Number.isFinite(value) && (!log || value > 0),
  );
  if (numbers.length === 0) return { place: () => undefined, ticks: [] };
  const range: Range = [numbers.reduce((a, b) => Math.min(a, b)), numbers.reduce((a, b) => Math.max(a, b))];
  const domain = range[0] === range[1] ? widened(range, 0, log) : range;
  const scale: Scale = scaleOf(domain, pixels, log);
  const wanted = Math.max(2, Math.floor(Math.abs(pixels[0] - pixels[1]) / TICKS_APART));
  const ticks = log ? logTicks(domain, wanted) : linearTicks(domain, wanted);
  return {
    place: (value) => {
      const at = typeof value === "number" ? scale.toPixel(value) : Number.NaN;
      return Number.isFinite(at) ? at : undefined;
    },
    ticks: ticks.map(({ value, label }) => ({ at: scale.toPixel(value), label: label || shortNumber(value) })),
  };
}

function categories(names: readonly string[], [from, to]: Range): Places {
  const at = new Map(
    names.map((name, i) => [
      name,
      names.length === 1 ? (from + to) / 2 : from + ((to - from) * i) / (names.length - 1),
    ]),
  );
  return {
    place: (value) => (value === null ? undefined : at.get(String(value))),
    ticks: names.length > CATEGORIES_MAX ? [] : [...at].map(([label, place]) => ({ at: place, label })),
  };
}

/** Keeps the end of a text, where keys differ. */
function shortened(label: string, most: number): string {
  return label.length <= most ? label : `…${label.slice(label.length - most + 1)}`;
}
