import type { BenchStack } from "../bench-stack.ts";
import { shown, tableHead, tableRow } from "../markdown-table.ts";
import { runOpenLoop, type OpenLoopAnswer } from "../open-loop.ts";
import { withSender } from "../open-sender.ts";
import { percentilesOf, type Percentiles } from "../percentiles.ts";
import { untilCompacted } from "./compaction-state.ts";
import { shotsOf } from "./ours-over-http.ts";
import { describeLoad, type WriteLoad } from "./write-load.ts";

/** Latencies of writes that arrive at a steady rate, whether the earlier ones are answered or not. */
export type SteadyRow = Percentiles & {
  readonly name: string;
  /** Requests a second that were sent, and that were answered. */
  readonly rate: number;
  readonly answered: number;
  readonly errors: number;
};

const IN_FLIGHT_MAX = 256;
/** At the start each run is new, and much is done for the first time. */
const LEFT_OUT_MS = 1000;

/** A rate to write at, in requests a second, and what it is in words, as "at 50 % of the rate above". */
export type SteadyRate = { readonly what: string; readonly rate: number };

/** Writes a load at a steady rate for `seconds`. */
export async function latencyAt(
  bench: BenchStack,
  tape: Float64Array,
  options: { readonly load: WriteLoad; readonly steady: SteadyRate; readonly seconds: number },
): Promise<SteadyRow> {
  const {
    load,
    steady: { what, rate },
    seconds,
  } = options;
  const shotOf = await shotsOf(bench, tape, load);
  const answers: OpenLoopAnswer[] = [];
  const sender = { baseUrl: bench.stack.baseUrl, key: bench.key, connections: IN_FLIGHT_MAX };
  await withSender(sender, ({ send }) =>
    runOpenLoop({
      rate,
      seconds: seconds + LEFT_OUT_MS / 1000,
      inFlightMax: IN_FLIGHT_MAX,
      send: (index) => send(shotOf(index)),
      onAnswer: (answer) => answers.push(answer),
    }),
  );
  await untilCompacted(bench);
  const counted = answers.filter(({ dueMs }) => dueMs >= LEFT_OUT_MS);
  const good = counted.filter(({ error }) => error === undefined);
  const lastMs = Math.max(...good.map(({ dueMs, latencyMs }) => dueMs + latencyMs)) - LEFT_OUT_MS;
  return {
    ...percentilesOf(good.map(({ latencyMs }) => latencyMs)),
    name: `${describeLoad({ ...load, concurrency: 0 })}, ${what}`,
    rate,
    answered: good.length / (lastMs / 1000),
    errors: counted.length - good.length,
  };
}

/** The heading lines of the table of steady writes. */
export const steadyHead = tableHead([
  "steady writes, ours over HTTP",
  "requests/s",
  "answered/s",
  "p50 ms",
  "p95 ms",
  "p99 ms",
  "errors",
]);

/** A line of that table. */
export function steadyLine({ name, rate, answered, p50, p95, p99, errors }: SteadyRow): string {
  return tableRow([name, shown(rate, 1), shown(answered, 1), shown(p50, 1), shown(p95, 1), shown(p99, 1), errors]);
}
