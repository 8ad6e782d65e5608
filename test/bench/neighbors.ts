import { cpus } from "node:os";
import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres } from "./fresh-postgres.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { noisesOf, shotOfRound, type Noise } from "./neighbors/noises.ts";
import { startNoise } from "./neighbors/start-noise.ts";
import { openSender, type Sender, type Shot } from "./open-sender.ts";
import { runOpenLoop } from "./open-loop.ts";
import { percentilesOf, spreadOf } from "./percentiles.ts";
import { otherOrganizations, seedRuns } from "./seed/seed-runs.ts";

// What an organization that asks for as much as it gets, without rate limits, costs eight others that log, poll and look at charts at a steady rate.

const SMALL = 2000;
const MEDIUM = 10;
const NOISY_RUNS = 100_000;
const NEIGHBORS = 8;
const NEIGHBOR_RUNS = 200;
/** Requests a second of all neighbors together. */
const RATE = 48;
const IN_FLIGHT_MAX = 256;
/** What a noisy organization may cost: twice the p95, and 50 ms. */
const RATIO_MAX = 2;
const ADDED_MS_MAX = 50;
/** More batches than a run gets in a round, so that its steps go on in the next one. */
const ROUND_BATCHES_MAX = 100_000;
/** Before a measurement, so that queues are what they are in the long run. */
const SETTLE_SECONDS = 2;

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const scaled = (count: number): number => Math.max(1, Math.round(count * options.scale));

/** An organization that goes about its work. */
type Neighbor = { readonly sender: Sender; readonly runId: string; readonly key: string };

async function makeRun(bench: BenchStack, key: string): Promise<string> {
  const made = await bench.stack.api.as(key).post("/runs", { project: "work" });
  return made.json.run.id as string;
}

async function openNeighbors(bench: BenchStack): Promise<{ neighbors: Neighbor[]; orgIds: string[] }> {
  const neighbors: Neighbor[] = [];
  const orgIds: string[] = [];
  for (let i = 0; i < NEIGHBORS; i += 1) {
    const { orgId, key } = await bench.stack.organization();
    const sender = openSender({ baseUrl: bench.stack.baseUrl, key, connections: 32 });
    neighbors.push({ sender, key, runId: await makeRun(bench, key) });
    orgIds.push(orgId);
  }
  return { neighbors, orgIds };
}

/** What a neighbor does, in turn: logs twice, polls, lists its runs, searches them, reads a chart. */
const kinds: ((runId: string, index: number) => Shot)[] = [
  logStep,
  (runId) => ({ method: "GET", path: `/api/runs/${runId}/stop-signal` }),
  () => ({ method: "GET", path: "/runs?limit=50" }),
  logStep,
  () => ({ method: "GET", path: "/api/runs/summary?limit=25&q=lion" }),
  (runId) => ({
    method: "POST",
    path: "/api/metrics/series",
    body: JSON.stringify({ key: "loss", run_ids: [runId], limit: 1000 }),
  }),
];

function logStep(runId: string, index: number): Shot {
  const body = {
    step: index,
    timestamp: new Date().toISOString(),
    metrics: { loss: 1 / (index + 1), accuracy: index },
  };
  return { method: "POST", path: `/runs/${runId}/metrics`, body: JSON.stringify(body) };
}

let asked = 0;

/** Percentiles of what the neighbors wait, and how many of their requests failed. */
async function measure(neighbors: readonly Neighbor[], seconds: number) {
  const latencies: number[] = [];
  let errors = 0;
  let firstError: unknown;
  const from = asked;
  await runOpenLoop({
    rate: RATE,
    seconds: SETTLE_SECONDS + seconds,
    inFlightMax: IN_FLIGHT_MAX,
    send: async (index) => {
      asked = from + index + 1;
      const { sender, runId } = neighbors[index % NEIGHBORS]!;
      await sender.send(kinds[Math.floor(index / NEIGHBORS) % kinds.length]!(runId, from + index));
    },
    onAnswer: ({ dueMs, latencyMs, error }) => {
      if (error !== undefined) {
        errors += 1;
        firstError ??= error;
      } else if (dueMs >= SETTLE_SECONDS * 1000) latencies.push(latencyMs);
    },
  });
  return { ...percentilesOf(latencies), errors, firstError };
}

type Measured = Awaited<ReturnType<typeof measure>>;

async function compare(
  bench: BenchStack,
  neighbors: readonly Neighbor[],
  noisyKey: string,
  noise: Noise,
): Promise<void> {
  const [quiet, noisy]: [Measured[], Measured[]] = [[], []];
  let answered = 0;
  let failed = 0;
  let firstError: string | undefined;
  for (let round = 0; round < options.rounds; round += 1) {
    quiet.push(await measure(neighbors, options.seconds));
    const { concurrency, shots } = noise;
    const running = await startNoise({
      baseUrl: bench.stack.baseUrl,
      key: noisyKey,
      concurrency,
      shots,
      firstRound: 1 + round * ROUND_BATCHES_MAX,
    });
    noisy.push(await measure(neighbors, options.seconds));
    const report = await running.stop();
    answered += report.answered;
    failed += report.errors;
    firstError ??= report.firstError;
  }
  const of = (all: readonly Measured[], which: "p50" | "p95"): number => spreadOf(all.map((one) => one[which])).median;
  const [before, after] = [of(quiet, "p95"), of(noisy, "p95")];
  const isWithin = after <= before * RATIO_MAX + ADDED_MS_MAX;
  const errors = [...quiet, ...noisy].reduce((sum, one) => sum + one.errors, 0);
  const seconds = options.rounds * (SETTLE_SECONDS + options.seconds);
  say(
    tableRow([
      noise.name,
      `${shown(answered / seconds, 1)}/s, ${failed} failed${firstError === undefined ? "" : ` (${firstError.slice(0, 60)})`}`,
      `${shown(of(quiet, "p50"), 1)}, ${shown(before, 1)}`,
      `${shown(of(noisy, "p50"), 1)}, ${shown(after, 1)}`,
      shown(after / before, 2),
      isWithin ? "within" : "beyond",
      errors === 0 ? 0 : `${errors}: ${String([...quiet, ...noisy].find((one) => one.errors > 0)?.firstError)}`,
    ]),
  );
}

await withFreshPostgres(async (postgres) => {
  for (const mode of options.modes) {
    const bench = await openBenchStack(postgres, mode, `neighbors_${mode.replace("-", "_")}`);
    try {
      const noisy = await bench.stack.organization();
      const { neighbors, orgIds } = await openNeighbors(bench);
      await seedRuns(bench.owner, [
        ...otherOrganizations(scaled(SMALL), scaled(MEDIUM)),
        { orgId: noisy.orgId, first: 1, last: scaled(NOISY_RUNS) },
        ...orgIds.map((orgId) => ({ orgId, first: 1, last: NEIGHBOR_RUNS })),
      ]);
      const runIds: string[] = [];
      for (let i = 0; i < 32; i += 1) runIds.push(await makeRun(bench, noisy.key));
      const noises = noisesOf(runIds);
      // What charts read and batches add to.
      const writer = openSender({ baseUrl: bench.stack.baseUrl, key: noisy.key, connections: 4 });
      const batches = noises.find(({ shots }) => shots.length === runIds.length)!;
      for (const shot of batches.shots) await writer.send(shotOfRound(shot, 0));
      await writer.close();
      await measure(neighbors, 2);
      say(
        `\n${mode}, ${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}: ${NEIGHBORS} neighbors with ${RATE} requests/s together, median of ${options.rounds} rounds of ${options.seconds} s.\n`,
      );
      say(
        tableHead([
          "noise",
          "of which answered",
          "neighbors alone: p50, p95 ms",
          "beside it: p50, p95 ms",
          "ratio of p95",
          `at most ${RATIO_MAX}x and ${ADDED_MS_MAX} ms`,
          "errors of neighbors",
        ]),
      );
      for (const noise of noises.filter(({ name }) => options.only.split(",").some((part) => name.includes(part))))
        await compare(bench, neighbors, noisy.key, noise);
      for (const { sender } of neighbors) await sender.close();
    } finally {
      await bench.stop();
    }
  }
});
