import { setTimeout as pause } from "node:timers/promises";
import { percentilesOf, type Percentiles } from "./percentiles.ts";

/** What a closed loop measured. */
export type LoopResult = Percentiles & {
  /** Answered within the measured seconds. */
  readonly requests: number;
  /** Answered in all, before and after the measured seconds too. */
  readonly sent: number;
  readonly seconds: number;
  /** Requests that failed, at any time. */
  readonly errors: number;
  readonly firstError: string | undefined;
};

/** How to go round. */
export type LoopOptions = {
  readonly concurrency: number;
  /** Seconds before the measurement. */
  readonly warmUp: number;
  readonly seconds: number;
  /** The measurement goes on until there are this many answers, at most ten times `seconds`. Default: 1. */
  readonly requestsMin?: number;
  /** One request; a rejection counts as a failed one. `index` rises by one with each. */
  readonly once: (index: number) => Promise<void>;
};

/**
 * Keeps `concurrency` requests on the way for a while, which tells capacity. `onMeasure` is called when the warm-up ends and
 * again at the end, to take readings.
 */
export async function runClosedLoop(options: LoopOptions, onMeasure?: () => Promise<void>): Promise<LoopResult> {
  const latencies: number[] = [];
  let measuring = false;
  let stop = false;
  let index = 0;
  let sent = 0;
  let errors = 0;
  let firstError: string | undefined;

  const once = async (): Promise<void> => {
    const started = performance.now();
    try {
      await options.once(index++);
      sent += 1;
      if (measuring) latencies.push(performance.now() - started);
    } catch (error) {
      errors += 1;
      firstError ??= String(error);
      // Without it a server that refuses immediately would keep this process busy with requests alone.
      await pause(1);
    }
  };
  const worker = async (): Promise<void> => {
    while (!stop) await once();
  };
  const workers = Array.from({ length: options.concurrency }, worker);

  await pause(options.warmUp * 1000);
  await onMeasure?.();
  measuring = true;
  const started = performance.now();
  await pause(options.seconds * 1000);
  const latest = started + options.seconds * 10_000;
  while (latencies.length < (options.requestsMin ?? 1) && performance.now() < latest) await pause(20);
  measuring = false;
  const seconds = (performance.now() - started) / 1000;
  const measured = percentilesOf(latencies);
  const requests = latencies.length;
  await onMeasure?.();
  stop = true;
  await Promise.all(workers);
  return { ...measured, requests, sent, seconds, errors, firstError };
}
