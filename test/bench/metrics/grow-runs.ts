import type { BenchStack } from "../bench-stack.ts";
import { openSender } from "../open-sender.ts";
import { metricShots } from "./metric-shots.ts";
import { valueTape } from "./metric-values.ts";
import { keyNames, type WriteLoad } from "./write-load.ts";

/** Runs and keys that the points are spread over, however many they become. */
export const GROWTH_RUNS = 32;
export const GROWTH_KEYS = 20;

const STEPS_PER_REQUEST = 500;
const CONNECTIONS = 8;
/** The rate is that of the last writes: as many as take a while, at most these. */
const MEASURED_POINTS = 10_000_000;

/** Writes more and more points to the same runs. */
export type Grower = {
  readonly runIds: readonly string[];
  readonly keys: readonly string[];
  /** Points that were acknowledged. */
  stored(): number;
  /** Steps that every run has at least. */
  steps(): number;
  /** Writes until there are this many points, rounded up to whole requests; returns the scalars per second of the last part. */
  growTo(points: number): Promise<number>;
  close(): Promise<void>;
};

/** Makes the runs. */
export async function createGrower(bench: BenchStack): Promise<Grower> {
  const { stack, key } = bench;
  const runIds = await bench.newRuns(GROWTH_RUNS);
  const keys = keyNames(GROWTH_KEYS);
  const load: WriteLoad = { runs: GROWTH_RUNS, points: STEPS_PER_REQUEST, keys: GROWTH_KEYS, concurrency: CONNECTIONS };
  const shotOf = metricShots(valueTape(), load, runIds);
  const sender = openSender({ baseUrl: stack.baseUrl, key, connections: CONNECTIONS });
  const perRequest = STEPS_PER_REQUEST * GROWTH_KEYS;
  let next = 0;
  let done = 0;

  const send = async (until: number): Promise<void> => {
    while (next < until) {
      await sender.send(shotOf(next++));
      done += 1;
    }
  };
  const sendAll = (until: number) => Promise.all(Array.from({ length: CONNECTIONS }, () => send(until)));

  return {
    runIds,
    keys,
    stored: () => done * perRequest,
    steps: () => Math.floor(done / GROWTH_RUNS) * STEPS_PER_REQUEST,
    async growTo(points) {
      const until = Math.ceil(points / perRequest);
      // Half of the way at least is left to be measured.
      const measured = Math.min(Math.floor(MEASURED_POINTS / perRequest), Math.ceil((until - done) / 2));
      await sendAll(until - measured);
      const before = done;
      const started = performance.now();
      await sendAll(until);
      return ((done - before) * perRequest) / ((performance.now() - started) / 1000);
    },
    close: () => sender.close(),
  };
}
