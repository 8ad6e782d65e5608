import { startBackground } from "./frame/background.ts";
import type { Bench, BenchContext } from "./frame/bench.ts";
import { measure, type Measured } from "./frame/measure.ts";
import { medianOf } from "./frame/percentiles.ts";
import { shown } from "./frame/report.ts";
import { withSender } from "./frame/sender.ts";
import { shotOfRound } from "./frame/step-places.ts";
import type { BenchStack } from "./frame/stack.ts";
import { actNext, openNeighbor, type Neighbor } from "./neighbors/neighbor.ts";
import { batchShot, noisesOf, type Noise } from "./neighbors/noises.ts";
import { seedRuns } from "./seed/seed-runs.ts";
import { seedSkewed } from "./seed/skewed.ts";

const NOISY_RUNS = 100_000;
const NEIGHBORS = 8;
const NEIGHBOR_RUNS = 200;
/** Requests a second of all neighbors together. */
const RATE = 48;
const IN_FLIGHT_MAX = 256;
/** More rounds than a noise gets through in a measurement, so that the steps of its batches continue in the next one. */
const ROUNDS_MAX = 100_000;
/** Milliseconds that a noise may add to that. */
const ADDED_MS = 50;
/** Before a measurement, so that queues are what they are in the long run. */
const SETTLE_SECONDS = 2;

/** The database with an organization that makes noise and the neighbors. */
type Street = {
  readonly bench: BenchStack;
  readonly neighbors: readonly Neighbor[];
  readonly noises: readonly Noise[];
};

async function prepare(context: BenchContext): Promise<Street> {
  const bench = await context.open();
  const neighbors: Neighbor[] = [];
  while (neighbors.length < NEIGHBORS) neighbors.push(await openNeighbor(bench));
  await seedSkewed(context, bench, [{ orgId: bench.orgId, runs: context.scaled(NOISY_RUNS, 1000) }]);
  await seedRuns(
    bench.owner,
    neighbors.map(({ orgId }) => ({ orgId, first: 1, last: NEIGHBOR_RUNS })),
  );
  const runIds = await bench.newRuns(32);
  // What series read and batches add to.
  await withSender({ baseUrl: bench.stack.baseUrl, key: bench.key }, 1, async ({ send }) => {
    for (const runId of runIds) await send(shotOfRound(batchShot(runId), 0));
  });
  return { bench, neighbors, noises: noisesOf(runIds) };
}

/** Returns a function that measures the neighbors repeatedly; their steps continue. */
function neighborMeasure({ bench, neighbors }: Street, seconds: number): () => Promise<Measured> {
  let asked = 0;
  const load = { concurrency: IN_FLIGHT_MAX, rate: RATE, seconds, warmUp: SETTLE_SECONDS };
  return async () => {
    const from = asked;
    return measure(bench, load, async (index) => {
      asked = from + index + 1;
      await actNext(neighbors, from + index);
    });
  };
}

async function compare(
  { rounds, report }: BenchContext,
  { bench }: Street,
  noise: Noise,
  next: () => Promise<Measured>,
) {
  const [quiet, noisy]: [Measured[], Measured[]] = [[], []];
  let [answered, failed] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(await next());
    const { concurrency, shots } = noise;
    const destination = { baseUrl: bench.stack.baseUrl, key: bench.key };
    const running = await startBackground({ ...destination, concurrency, shots, firstRound: 1 + round * ROUNDS_MAX });
    noisy.push(await next());
    const told = await running.stop();
    answered += told.answered;
    failed += told.errors;
  }
  const p95 = (all: readonly Measured[]): number => medianOf(all.map((one) => one.p95));
  const [alone, during] = [p95(quiet), p95(noisy)];
  report.load("neighbors alone", quiet.at(-1)!);
  report.load(`during ${noise.name} (${shown(answered)} answered, ${failed} refused)`, noisy.at(-1)!);
  const what = `p95 of neighbors during ${noise.name}, less ${ADDED_MS} ms, times that of alone`;
  report.target({ row: 21, what, value: (during - ADDED_MS) / alone, wanted: 2, limit: 8 });
}

/** How an organization that requests as much as it can, without rate limits, slows eight others that log, poll and view charts at a steady rate. */
export const neighbors: Bench = {
  about: "what a noisy organization costs its neighbors (row 21)",
  async run(context) {
    const street = await prepare(context);
    const next = neighborMeasure(street, context.seconds);
    await next();
    const wanted = street.noises.filter(({ name }) => context.wants(name));
    for (const noise of wanted) await compare(context, street, noise, next);
    for (const { sender } of street.neighbors) await sender.close();
  },
};
