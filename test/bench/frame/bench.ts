import type { Mode } from "../../stack/stack.ts";
import { type BenchPostgres, type BenchStack, withFreshPostgres, openBenchStack } from "./stack.ts";
import type { Report } from "./report.ts";
import { cpus } from "node:os";
import type { BenchOptions } from "./command-line.ts";

/** The context of a bench. */
export type BenchContext = {
  /** Whether the product runs in one process or in a process for each module. */
  readonly mode: Mode;
  /** Seconds that each case is measured. */
  readonly seconds: number;
  /** How often the compared loads are measured, in turn. */
  readonly rounds: number;
  readonly postgres: BenchPostgres;
  readonly report: Report;
  /** Starts the product over a new, empty database of the PostgreSQL of this bench; it ends with the bench. */
  readonly open: (settings?: Record<string, string>) => Promise<BenchStack>;
  /** Returns a size times `--scale`, at least `least` or 1. */
  readonly scaled: (size: number, least?: number) => number;
  /** Whether `--only` leaves a case of this name. */
  readonly wants: (name: string) => boolean;
};

/** A measurement that can be repeated by its name: `npm run bench -- <name>`. */
export type Bench = {
  /** A description of what it measures, with the rows of docs/benchmarks.md. */
  readonly about: string;
  /** Left out of `npm run bench -- --check` because it needs what a server does not have, such as a browser. */
  readonly onlyByName?: boolean;
  readonly run: (context: BenchContext) => Promise<void>;
};

/** Runs a bench on its own PostgreSQL, and stops everything it has started. */
export async function runBench(
  { run }: Bench,
  { mode, options, report }: { readonly mode: Mode; readonly options: BenchOptions; readonly report: Report },
): Promise<void> {
  await withFreshPostgres(async (postgres) => {
    const opened: BenchStack[] = [];
    const { seconds, rounds, only, scale } = options;
    try {
      await run({
        mode,
        seconds,
        rounds,
        postgres,
        report,
        async open(settings) {
          const bench = await openBenchStack(postgres, mode, `bench_${opened.length}`, settings);
          opened.push(bench);
          return bench;
        },
        scaled: (size, least = 1) => Math.max(least, Math.round(size * scale)),
        wants: (name) => name.includes(only),
      });
    } finally {
      for (const bench of opened.toReversed()) await bench.stop();
    }
  });
}

/** Returns the settings that a bench was run with, as a heading of its output. */
export function describeRun(name: string, mode: Mode, { scale, seconds, rounds }: BenchOptions): string {
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}`;
  return `## ${name}, ${mode}, sizes x ${scale}, ${seconds} s a case, ${rounds} rounds; ${machine}`;
}
