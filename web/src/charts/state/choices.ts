import type { Smoothing, XAxis } from "../series/series.ts";

/** What the band of a line covers. */
export type Band = "std" | "range" | "none";

const METRIC = "metric:";

/** Reads an axis; undefined for what is none. */
export function axisOf(text: string): XAxis | undefined {
  if (text === "step" || text === "relative" || text === "time") return text;
  return text.startsWith(METRIC) && text.length > METRIC.length ? `metric:${text.slice(METRIC.length)}` : undefined;
}

/** Reads an amount of smoothing; undefined for what is none. */
export function smoothingOf(text: string): Smoothing | undefined {
  const [, kind, number] = /^(ema|gaussian|mean):(.+)$/.exec(text) ?? [];
  const parameter = Number(number);
  if (kind === undefined || !Number.isFinite(parameter)) return undefined;
  if (kind === "ema") return parameter > 0 && parameter < 1 ? { kind, parameter } : undefined;
  return parameter > 0 ? { kind: kind as "gaussian" | "mean", parameter } : undefined;
}
