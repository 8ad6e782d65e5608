import type { Measured } from "./measure.ts";

/** The promise of a row of docs/benchmarks.md, and its measurement. */
export type Target = {
  /** The number of the row. */
  readonly row: number;
  /** The measured quantity, with its unit. */
  readonly what: string;
  readonly value: number;
  /** Whether more is better; default: less is. */
  readonly more?: boolean;
  readonly wanted: number;
  /**
   * A value beyond this one fails `--check`. It has to hold on every machine, so only ratios, bytes and counts have one: a time is reported next to its
   * target, and a slow machine does not fail the check.
   */
  readonly limit?: number;
};

/** Takes what a bench measures. */
export type Report = {
  say(text: string): void;
  /** Prints a load as a row of the table. */
  load(name: string, measured: Measured): void;
  target(target: Target): void;
};

/** Collects what benches measure. */
export type Collector = Report & {
  /** Prints the targets and returns whether nothing failed. */
  judge(): boolean;
};

/** Prints a number with this many decimals and commas between the thousands; an empty text when there is none. */
export function shown(value: number, digits = 0): string {
  const exact = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return Number.isFinite(value) ? value.toLocaleString("en-US", exact) : "";
}

const short = (value: number): string => shown(value, value < 10 ? 2 : value < 100 ? 1 : 0);
const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
const head = (...titles: string[]): string => `\n${line(titles)}\n|${"---|".repeat(titles.length)}`;
const CPU = "CPU µs a request: server + PostgreSQL + client";
const loadHead = head("case", "at a time", "requests/s", "p50 / p95 ms", CPU, "bytes", "errors");

/** Returns `met`, `missed`, or `FAILED` when the limit does not hold either; a value that is not a number does not hold. */
export function verdictOf({ value, more = false, wanted, limit }: Target): "met" | "missed" | "FAILED" {
  const holds = (bound: number): boolean => (more ? value >= bound : value <= bound);
  if (holds(wanted)) return "met";
  return limit === undefined || holds(limit) ? "missed" : "FAILED";
}

/** Creates a collector that prints Markdown. @param print takes one or more lines */
export function createReport(print: (text: string) => void): Collector {
  const targets: Target[] = [];
  let failedLoads = 0;
  let inTable = false;
  return {
    say(text) {
      inTable = false;
      print(`\n${text}`);
    },
    load(name, { concurrency, rate, p50, p95, cpu, bytes, errors, firstError }) {
      if (!inTable) print(loadHead);
      inTable = true;
      const used = Number.isFinite(cpu.server) ? [cpu.server, cpu.database, cpu.client].map((us) => shown(us)) : [];
      const times = `${short(p50)} / ${short(p95)}`;
      const failed = errors === 0 ? 0 : `${errors}: ${String(firstError)}`;
      if (errors > 0) failedLoads += 1;
      print(line([name, concurrency, short(rate), times, used.join(" + "), shown(bytes), failed]));
    },
    target: (target) => void targets.push(target),
    judge() {
      print(head("row", "target", "measured", "wanted", "fails beyond", "verdict"));
      for (const target of targets.toSorted((a, b) => a.row - b.row)) {
        const { row, what, value, more, wanted, limit } = target;
        const bound = `${more === true ? "at least" : "at most"} ${short(wanted)}`;
        print(line([row, what, short(value), bound, limit === undefined ? "" : short(limit), verdictOf(target)]));
      }
      if (failedLoads > 0) print(`\nFAILED: in ${failedLoads} cases requests were not answered.`);
      return failedLoads === 0 && targets.every((target) => verdictOf(target) !== "FAILED");
    },
  };
}
