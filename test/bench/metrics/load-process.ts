import { runOpenLoop, type OpenLoopAnswer } from "../open-loop.ts";
import { openSender } from "../open-sender.ts";
import { percentilesOf, type Percentiles } from "../percentiles.ts";
import { metricShots } from "./metric-shots.ts";
import { valueTape } from "./metric-values.ts";
import type { WriteLoad } from "./write-load.ts";

// Writes batches over HTTP at a steady rate until it is told to stop: a separate process, so that its work does not show in
// the latencies of those who read meanwhile.

export type LoadCommand = WriteLoad & {
  readonly baseUrl: string;
  readonly key: string;
  readonly runIds: readonly string[];
  /** Requests a second. */
  readonly rate: number;
};

export type LoadReport = Percentiles & { readonly answered: number; readonly errors: number; readonly seconds: number };

const FOREVER_SECONDS = 24 * 3600;

process.once("message", (message) => void run(message as LoadCommand));

async function run({ baseUrl, key, runIds, rate, ...load }: LoadCommand): Promise<void> {
  const stop = new AbortController();
  process.once("message", () => stop.abort());
  process.once("disconnect", () => stop.abort());
  const sender = openSender({ baseUrl, key, connections: load.concurrency });
  const shotOf = metricShots(valueTape(), load, runIds);
  const answers: OpenLoopAnswer[] = [];
  const started = performance.now();
  process.send?.("started");
  await runOpenLoop({
    rate,
    seconds: FOREVER_SECONDS,
    inFlightMax: load.concurrency,
    signal: stop.signal,
    send: (index) => sender.send(shotOf(index)),
    onAnswer: (answer) => answers.push(answer),
  });
  const good = answers.filter(({ error }) => error === undefined);
  const report: LoadReport = {
    ...percentilesOf(good.map(({ latencyMs }) => latencyMs)),
    answered: good.length,
    errors: answers.length - good.length,
    seconds: (performance.now() - started) / 1000,
  };
  process.send?.(report, () => process.disconnect());
  await sender.close();
}
