import type { Surroundings } from "../surroundings.ts";

/** Shows how far something is. */
export type Progress = {
  /** Sets the amount done so far. */
  readonly set: (done: number) => void;
  /** Ends the line, or says how much it was. */
  readonly end: () => void;
};

/** The unit that is counted. */
export type Measure = "bytes" | "points" | "files";

/** How often it is shown: on a terminal, and as lines of a pipe. */
const EVERY_MS = { terminal: 200, pipe: 10_000 };

const BAR_CELLS = 24;

/**
 * Shows how far something is: on a terminal as a bar with rate and remaining time, redrawn in place; in a pipe as plain lines. Without `total` there
 * is no bar.
 */
export function showProgress(
  { report, isTerminal, now }: Pick<Surroundings, "report" | "isTerminal" | "now">,
  label: string,
  measure: Measure,
  total?: number,
): Progress {
  const start = now();
  let [done, shownAt, width] = [0, start, 0];
  const show = (text: string, end: string): void => {
    const line = `${label} ${text}`;
    report(isTerminal ? `\r${line.padEnd(width)}${end}` : `${line}\n`);
    width = line.length;
  };
  return {
    set(next) {
      done = next;
      if (now() - shownAt < (isTerminal ? EVERY_MS.terminal : EVERY_MS.pipe)) return;
      shownAt = now();
      show(progressText({ done, total, measure, seconds: (shownAt - start) / 1000, bar: isTerminal }), "");
    },
    end() {
      show(`${amount(done, measure)} in ${duration((now() - start) / 1000)}`, "\n");
    },
  };
}

type State = {
  readonly done: number;
  readonly total: number | undefined;
  readonly measure: Measure;
  readonly seconds: number;
  readonly bar: boolean;
};

/** Says how far something is, how fast, and how long it still takes. */
export function progressText({ done, total, measure, seconds, bar }: State): string {
  const rate = seconds > 0 ? done / seconds : 0;
  const speed = `${amount(rate, measure)}/s`;
  if (total === undefined || total === 0) return `${amount(done, measure)}  ${speed}`;
  const share = Math.min(1, done / total);
  const filled = Math.round(share * BAR_CELLS);
  const cells = bar ? `[${"#".repeat(filled)}${"-".repeat(BAR_CELLS - filled)}] ` : "";
  const left = rate > 0 ? `  ${duration((total - done) / rate)} left` : "";
  return `${cells}${Math.floor(share * 100)}%  ${amount(done, measure)} of ${amount(total, measure)}  ${speed}${left}`;
}

/** Writes an amount for people. */
export function amount(value: number, measure: Measure): string {
  if (measure !== "bytes") return `${Math.round(value).toLocaleString("en-US")} ${measure}`;
  const units = ["B", "KB", "MB", "GB", "TB"];
  let [size, unit] = [value, 0];
  while (size >= 1000 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit === 0 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours === 0 ? `${minutes} min ${whole % 60} s` : `${hours} h ${minutes} min`;
}
