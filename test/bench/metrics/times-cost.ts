import type { BenchStack } from "../bench-stack.ts";
import type { LoopResult } from "../closed-loop.ts";
import { withSender, type Sender, type Shot } from "../open-sender.ts";
import { percentilesOf, spreadOf } from "../percentiles.ts";
import { cpuBetween, readCoreTime } from "../processes.ts";
import { holdCompaction, untilCompacted } from "./compaction-state.ts";
import type { Comparison, Trial } from "./compare-stores.ts";
import { metricShots } from "./metric-shots.ts";
import { describeLoad, type WriteLoad } from "./write-load.ts";

/** What the two sides of the comparison are called. */
export const TIMED = "with client times";
export const UNTIMED = "without client times";

/** Requests to new runs, before the measured ones. */
const FIRST_REQUESTS = 64;

/** How much to measure: pairs of trials, each of so many requests. */
export type TimesCostSize = { readonly pairs: number; readonly requests: number };

/**
 * Writes the same load with client times and without them, in turn, a number of requests each to new runs. CPU is that of the writes; the compaction
 * waits until the end.
 */
export async function compareTimes(
  bench: BenchStack,
  tape: Float64Array,
  load: WriteLoad,
  { pairs, requests }: TimesCostSize,
): Promise<Comparison> {
  const trials: Trial[] = [];
  const release = await holdCompaction(bench);
  try {
    for (let pair = 0; pair < pairs; pair += 1) {
      for (const timed of pair % 2 === 0 ? [true, false] : [false, true]) {
        const shotOf = metricShots(tape, load, await bench.newRuns(load.runs), timed);
        const trial = await writeSome(bench, load, requests, shotOf);
        trials.push({ store: timed ? TIMED : UNTIMED, ...trial });
      }
    }
  } finally {
    await release();
  }
  await untilCompacted(bench);
  return { name: describeLoad(load), scalars: load.points * load.keys, trials };
}

async function writeSome(
  bench: BenchStack,
  { concurrency }: WriteLoad,
  requests: number,
  shotOf: (index: number) => Shot,
): Promise<Omit<Trial, "store">> {
  const latencies: number[] = [];
  let next = 0;
  const write = async ({ send }: Sender, until: number): Promise<void> => {
    while (next < until) {
      const shot = shotOf(next++);
      const started = performance.now();
      await send(shot);
      latencies.push(performance.now() - started);
    }
  };
  const connection = { baseUrl: bench.stack.baseUrl, key: bench.key, connections: concurrency };
  return withSender(connection, async (sender) => {
    const writeUntil = (until: number) => Promise.all(Array.from({ length: concurrency }, () => write(sender, until)));
    await writeUntil(FIRST_REQUESTS);
    latencies.length = 0;
    const [time, before] = [await readCoreTime(), await bench.readCpu()];
    const started = performance.now();
    await writeUntil(FIRST_REQUESTS + requests);
    const seconds = (performance.now() - started) / 1000;
    const cpu = cpuBetween(before, await bench.readCpu());
    const { total, stolen } = await readCoreTime();
    const counts = { requests, sent: requests, seconds, errors: 0, firstError: undefined };
    const result: LoopResult = { ...percentilesOf(latencies), ...counts };
    return { result, cpu, stolen: (stolen - time.stolen) / Math.max(1, total - time.total) };
  });
}

/** How many times as much it costs with client times as without; each a median over the pairs of trials. */
export type TimesCost = { readonly serverCpu: number; readonly allCpu: number; readonly rate: number };

/** Returns what client times cost. */
export function timesCost({ trials }: Comparison): TimesCost {
  const timed = trials.filter(({ store }) => store === TIMED);
  const untimed = trials.filter(({ store }) => store === UNTIMED);
  const median = (of: (trial: Trial) => number): number =>
    spreadOf(timed.map((trial, pair) => of(trial) / of(untimed[pair]!))).median;
  return {
    serverCpu: median(({ cpu }) => cpu.server),
    allCpu: median(({ cpu }) => cpu.server + cpu.database),
    rate: median(({ result }) => result.requests / result.seconds),
  };
}
