import { joinList, listParts } from "../../app/addresses.ts";
import type { Smoothing, XAxis } from "../series/series.ts";
import { axisOf, smoothingOf, type Band } from "./choices.ts";

/** What a chart has of its own; what is left out is as in all charts. */
export type ChartOptions = {
  /** Its first metric, which names the chart in the address. */
  readonly key: string;
  /** The metrics that it shows as well. */
  readonly also: readonly string[];
  readonly title?: string;
  /** Columns of the grid that it takes. */
  readonly size: 1 | 2 | 3;
  readonly x?: XAxis;
  readonly yLog?: boolean;
  /** Where the vertical axis begins and ends. */
  readonly yMin?: number;
  readonly yMax?: number;
  readonly smoothing?: Smoothing | "none";
  readonly band?: Band;
  /** Points without lines between them, as a scatter plot of two metrics has; lines otherwise. */
  readonly mark?: "points";
};

/** Metrics that a chart shows in addition to its first. */
export const ALSO_MAX = 7;
/** Characters of a title. */
export const TITLE_LENGTH_MAX = 120;
/** Charts with options of their own that an address holds. */
const CHARTS_MAX = 40;

/** Returns the options of a chart that has none of its own. */
export const plainChart = (key: string): ChartOptions => ({ key, also: [], size: 1 });

/** Writes charts as a part of an address; charts without options of their own are left out. Undefined for none. */
export function chartsText(charts: readonly ChartOptions[]): string | undefined {
  return joinList(
    charts
      .map(partsOf)
      .filter((parts) => parts.length > 1)
      .slice(0, CHARTS_MAX)
      .map((parts) => joinList(parts)!),
  );
}

function partsOf({ key, also, title, size, x, yLog, yMin, yMax, smoothing, band, mark }: ChartOptions): string[] {
  const smooth =
    smoothing === undefined || smoothing === "none" ? smoothing : `${smoothing.kind}:${smoothing.parameter}`;
  const named = {
    title,
    size: size === 1 ? undefined : size,
    x,
    y: yLog === undefined ? undefined : yLog ? "log" : "linear",
    min: yMin,
    max: yMax,
    smooth,
    band,
    mark,
  };
  return [
    key,
    ...also.map((one) => `also=${one}`),
    ...Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])),
  ];
}

/** Reads what `chartsText` wrote; what makes no sense is left out. */
export function chartsOf(text: string): readonly ChartOptions[] {
  const byKey = new Map<string, ChartOptions>();
  for (const part of listParts(text)) {
    const [key = "", ...parts] = listParts(part);
    if (key === "" || byKey.has(key) || byKey.size >= CHARTS_MAX) continue;
    const options = optionsOf(key, parts);
    if (partsOf(options).length > 1) byKey.set(key, options);
  }
  return [...byKey.values()];
}

function optionsOf(key: string, parts: readonly string[]): ChartOptions {
  const pairs = parts.map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)] as const);
  const values = new Map(pairs);
  const also = pairs.flatMap(([name, value]) => (name === "also" && value !== "" && value !== key ? [value] : []));
  const title = values.get("title")?.slice(0, TITLE_LENGTH_MAX);
  const size = Number(values.get("size"));
  const x = values.get("x");
  const y = values.get("y");
  const smooth = values.get("smooth") ?? "";
  const smoothing = smooth === "none" ? smooth : smoothingOf(smooth);
  const band = values.get("band");
  const [yMin, yMax] = ["min", "max"].map((name) => numberOf(values.get(name)));
  const isRange = yMin === undefined || yMax === undefined || yMin < yMax;
  const found = {
    title: title === "" ? undefined : title,
    x: axisOf(x ?? ""),
    yLog: y === "log" ? true : y === "linear" ? false : undefined,
    yMin: isRange ? yMin : undefined,
    yMax: isRange ? yMax : undefined,
    smoothing,
    band: band === "std" || band === "range" || band === "none" ? band : undefined,
    mark: values.get("mark") === "points" ? ("points" as const) : undefined,
  };
  return {
    key,
    also: [...new Set(also)].slice(0, ALSO_MAX),
    size: size === 2 || size === 3 ? size : 1,
    ...(Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as Partial<ChartOptions>),
  };
}

function numberOf(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Puts a chart in the place of the one with its key; one without options of its own is left out. */
export function withChart(charts: readonly ChartOptions[], chart: ChartOptions): readonly ChartOptions[] {
  const others = charts.filter(({ key }) => key !== chart.key);
  return partsOf(chart).length > 1 ? [...others, chart].slice(-CHARTS_MAX) : others;
}
