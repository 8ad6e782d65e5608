import { setTimeout as pause } from "node:timers/promises";
import { cpuBetween, type CpuReading, type BenchStack } from "./stack.ts";
import { drive, type Answer } from "./drive.ts";
import { percentilesOf, type Percentiles } from "./percentiles.ts";
import { withSender, type Shot } from "./sender.ts";

/** A load on the product, or on the system it is compared with. */
type Load = {
  readonly concurrency: number;
  readonly rate?: number;
  readonly seconds: number;
  /** Seconds before the measurement. Default: half a second. */
  readonly warmUp?: number;
  /** Answers before the measurement, which starts without them after ten times `seconds`: the first ones run code that is not compiled yet. */
  readonly warmUpMin?: number;
  /** The measurement continues until there are this many answers, at most ten times `seconds`. */
  readonly samplesMin?: number;
};

/** The results of a load. */
export type Measured = Percentiles & {
  /** Requests that were answered within the measured seconds, and how many that is a second. */
  readonly requests: number;
  readonly rate: number;
  readonly concurrency: number;
  /** Requests that were sent in all, before and after the measured seconds too. */
  readonly sent: number;
  /** Bytes of the body of the last answer; NaN where there are none. */
  readonly bytes: number;
  /** Microseconds of CPU for each request that was answered. */
  readonly cpu: CpuReading;
  readonly errors: number;
  readonly firstError: unknown;
};

/** Keeps a load running and measures it; the CPU time is the stack's. */
export async function measure(
  bench: Pick<BenchStack, "readCpu">,
  { concurrency, rate, seconds, warmUp = 0.5, warmUpMin = 0, samplesMin = 1 }: Load,
  send: (index: number) => Promise<unknown>,
): Promise<Measured> {
  const latencies: number[] = [];
  const stop = new AbortController();
  let [from, to] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let [sent, answered, errors, bytes] = [0, 0, 0, Number.NaN];
  // Of an open loop those count that were due in the measured time, even if they were answered after it: the slowest ones must not be left out.
  const counts = ({ dueAt, latencyMs }: Answer): boolean => {
    const at = rate === undefined ? dueAt + latencyMs : dueAt;
    return at >= from && at <= to;
  };
  let firstError: unknown;
  const driving = drive({
    concurrency,
    rate,
    signal: stop.signal,
    send: async (index) => {
      sent += 1;
      const answer = await send(index);
      if (typeof answer === "number") bytes = answer;
    },
    onAnswer: (answer) => {
      answered += 1;
      if (answer.error !== undefined) {
        errors += 1;
        firstError ??= answer.error;
      } else if (counts(answer)) latencies.push(answer.latencyMs);
    },
  });
  const untilAtLeast = async (least: number, count: () => number): Promise<void> => {
    const latest = performance.now() + seconds * 10_000;
    while (count() < least && performance.now() < latest) await pause(20);
  };
  await pause(warmUp * 1000);
  await untilAtLeast(warmUpMin, () => answered);
  const before = await bench.readCpu();
  from = performance.now();
  await pause(seconds * 1000);
  await untilAtLeast(samplesMin, () => latencies.length);
  to = performance.now();
  const after = await bench.readCpu();
  stop.abort();
  await driving;
  const requests = latencies.length;
  return {
    ...percentilesOf(latencies),
    requests,
    rate: (requests * 1000) / (to - from),
    concurrency,
    sent,
    bytes,
    cpu: cpuBetween(before, after, 1e6 / requests),
    errors,
    firstError,
  };
}

/** Measures requests to the stack, from its own organization unless another key is given. */
export function measureShots(
  bench: BenchStack,
  load: Load & { readonly key?: string },
  shotOf: (index: number) => Shot,
): Promise<Measured> {
  const destination = { baseUrl: bench.stack.baseUrl, key: load.key ?? bench.key };
  return withSender(destination, load.concurrency, ({ send }) => measure(bench, load, (index) => send(shotOf(index))));
}

/** Answers below which a 95th percentile says little. */
const SAMPLES_MIN = 100;

/** Measures one read, again and again, by one client. */
export function measureRead(
  bench: BenchStack,
  read: Shot | ((index: number) => Shot),
  load: { readonly seconds: number; readonly key?: string; readonly samplesMin?: number },
): Promise<Measured> {
  const shotOf = typeof read === "function" ? read : () => read;
  return measureShots(bench, { concurrency: 1, samplesMin: SAMPLES_MIN, ...load }, shotOf);
}
