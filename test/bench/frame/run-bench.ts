import { cpus } from "node:os";
import type { Mode } from "../../stack/stack.ts";
import type { Bench } from "./bench.ts";
import type { BenchOptions } from "./command-line.ts";
import { withFreshPostgres } from "./postgres.ts";
import type { Report } from "./report.ts";
import { openBenchStack, type BenchStack } from "./stack.ts";

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
