import { signal, type Signal } from "@preact/signals";
import type { Axes, Line } from "../scene/line-model.ts";
import type { LineScene } from "../scene/line-scene.ts";
import { counted, shortDuration, shortNumber } from "../scene/numbers.ts";

/** Writes a value of the horizontal axis with its meaning. */
export function axisText({ x, offsetMinutes }: Axes, value: number): string {
  if (x.kind === "duration") return shortDuration(value);
  if (x.kind === "clock") return clockText(value, offsetMinutes ?? 0);
  return `${x.label ?? "step"} ${shortNumber(value)}`;
}

/** Writes a clock time to the second, in the viewer's time zone: `2026-11-25 12:00:05`. */
function clockText(ms: number, offsetMinutes: number): string {
  return new Date(ms + offsetMinutes * 60_000).toISOString().slice(0, "2026-11-25T12:00:05".length).replace("T", " ");
}

/** Describes in a sentence what a chart shows, for people who do not see it. */
export function summaryOf(title: string, lines: readonly Line[], drawn: LineScene | undefined, axes: Axes): string {
  if (drawn === undefined) return `${title}: no points`;
  const { x, extent } = drawn;
  let [low, high] = [Infinity, -Infinity];
  for (const line of lines)
    line.x.forEach((at, i) => {
      if (at < x.domain[0] || at > x.domain[1]) return;
      const [least, most] = [line.low?.[i] ?? line.y[i]!, line.high?.[i] ?? line.y[i]!];
      if (least < low) low = least;
      if (most > high) high = most;
    });
  const values = low > high ? "no values" : `values ${shortNumber(low)} to ${shortNumber(high)}`;
  const ends = extent.x.map((end) => axisText(axes, end));
  return `${title}: ${counted(lines.length, "line")}, ${ends[0]} to ${ends[1]}, ${values}. Arrow keys read values.`;
}

/** Where the user points: charts that share it show it together. */
export type Pointed = {
  /** On the axis. */
  readonly x: number;
  /** In pixels of the chart that is pointed at. */
  readonly top: number | undefined;
  /** The chart that is pointed at. */
  readonly chart: string;
  /** Stays when the pointer leaves. */
  readonly pinned: boolean;
};

/** The state that charts on one page share. */
export type ChartLink = { readonly pointed: Signal<Pointed | undefined> };

/** Makes what charts share. */
export function createLink(): ChartLink {
  return { pointed: signal<Pointed | undefined>(undefined) };
}
