import type { ChartState } from "../state/chart-state.ts";

/** The name of the horizontal axis in files of values. */
export function axisName({ x }: Pick<ChartState, "x">): string {
  if (x === "step") return "step";
  return x === "relative" ? "seconds" : x === "time" ? "unix_ms" : x.slice("metric:".length);
}

/** The name of the horizontal axis below it; `offsetMinutes` is how far local time is ahead of UTC. */
export function axisLabel({ x }: Pick<ChartState, "x">, offsetMinutes = 0): string {
  if (x === "step") return "Step";
  if (x === "relative") return "Relative time";
  return x === "time" ? `Wall time (${zoneText(offsetMinutes)})` : x.slice("metric:".length);
}

/** Writes how far local time is ahead of UTC: `UTC+5:30`. */
function zoneText(minutes: number): string {
  if (minutes === 0) return "UTC";
  const size = Math.abs(minutes);
  const rest = size % 60;
  return `UTC${minutes < 0 ? "−" : "+"}${Math.floor(size / 60)}${rest === 0 ? "" : `:${String(rest).padStart(2, "0")}`}`;
}
