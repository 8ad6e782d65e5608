import type { BenchStack } from "./bench-stack.ts";
import { runLoad } from "./load.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { withSender, type Shot } from "./open-sender.ts";
import type { Percentiles } from "./percentiles.ts";
import { cpuBetween, type CpuReading } from "./processes.ts";

/** A read to be measured. */
export type ReadCase = {
  readonly name: string;
  readonly shot: (index: number) => Shot;
  /** Status of a good answer; default 200. */
  readonly expected?: number;
};

/** A measured read. */
export type ReadRow = Percentiles & {
  readonly name: string;
  readonly when: string;
  readonly samples: number;
  /** Bytes of one answer's body. */
  readonly bytes: number;
  /** Microseconds of CPU per request; NaN while something else used them as well. */
  readonly cpu: Pick<CpuReading, "server" | "database">;
  readonly errors: number;
  readonly firstError: string | undefined;
};

/** Samples below which a percentile says little. */
const SAMPLES_MIN = 200;
const WARM_UP_SECONDS = 0.5;

/** Measures one client with one request at a time, for `seconds` and at least 200 answers (within ten times as long). */
export async function measureRead(
  bench: BenchStack,
  read: ReadCase,
  options: { readonly when: string; readonly seconds: number; readonly alone?: boolean },
): Promise<ReadRow> {
  const { stack, key } = bench;
  const { name, shot, expected = 200 } = read;
  const once = { baseUrl: stack.baseUrl, key, connections: 1 };
  // One that fails is shown as failed below, and does not end the benchmark.
  const bytes = await withSender(once, ({ send }) => send(shot(0), expected)).catch(() => Number.NaN);
  const readings: CpuReading[] = [];
  const load = { baseUrl: stack.baseUrl, key, concurrency: 1, warmUp: WARM_UP_SECONDS, seconds: options.seconds };
  const result = await runLoad({ ...load, requestsMin: SAMPLES_MIN, shot, expected }, async () => {
    readings.push(await bench.readCpu());
  });
  const used = cpuBetween(readings[0]!, readings[1]!);
  const each = (seconds: number): number => ((options.alone ?? true) ? (seconds * 1e6) / result.requests : Number.NaN);
  return {
    name,
    when: options.when,
    ...result,
    samples: result.requests,
    bytes,
    cpu: { server: each(used.server), database: each(used.database) },
  };
}

/** The heading lines of the table of reads. */
export const readHead = tableHead([
  "read",
  "when",
  "p50 ms",
  "p95 ms",
  "p99 ms",
  "samples",
  "CPU µs/request: server + PostgreSQL",
  "bytes",
  "errors",
]);

/** A line of that table. */
export function readLine({ name, when, p50, p95, p99, samples, cpu, bytes, errors, firstError }: ReadRow): string {
  const used = Number.isNaN(cpu.server) ? "" : `${shown(cpu.server)} + ${shown(cpu.database)}`;
  const failed = errors === 0 ? 0 : `${errors}: ${firstError}`;
  return tableRow([
    name,
    when,
    shown(p50, 1),
    shown(p95, 1),
    shown(p99, 1),
    shown(samples),
    used,
    shown(bytes),
    failed,
  ]);
}
