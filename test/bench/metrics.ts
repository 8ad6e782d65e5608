import { measureCeilings } from "./ceilings.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres } from "./fresh-postgres.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { judgeRatio, type RatioRule, type Verdict } from "./metrics/check-ratios.ts";
import { comparisonHead, comparisonRows, rateRatio, summarize, type Comparison } from "./metrics/compare-stores.ts";
import { bodiesNote } from "./metrics/metric-bodies.ts";
import { describeRead, oursName, withStores, type BytesPerPoint, type SideBySide } from "./metrics/side-by-side.ts";
import { seriesRows, trackerRows } from "./metrics/row-designs.ts";
import { timesCost } from "./metrics/times-cost.ts";
import { describeLoad, type WriteLoad } from "./metrics/write-load.ts";
import { describeMachine } from "./report.ts";

// The metric store beside others on the same PostgreSQL, with the same numbers; `--check` judges a few ratios of it.

const WARM_UP_SECONDS = 1;
const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);

const single = (runs: number, concurrency: number): WriteLoad => ({ runs, points: 1, keys: 6, concurrency });
const batch = (keys: number): WriteLoad => ({ runs: 32, points: 500, keys, concurrency: 8 });
const fullLoads = [single(32, 1), single(32, 8), single(32, 32), single(1, 8), batch(2), batch(20), batch(100)];
const fullReads = [
  [100_000, 100_000],
  [20_000, 5000],
] as const;
/** Loads that are also written without client times, and what `--only` calls that. */
const timesLoads = [single(32, 8), batch(2)];
const TIMES = "client times";
/** Pairs of trials in each round: a ratio near 1 wants many. */
const TIMES_PAIRS = 4;
const BYTES_RUNS = 50;

const bytesOf = (found: readonly BytesPerPoint[], name: string): number | undefined =>
  found.find(({ store }) => store === name)?.bytes;

function sayBytes(found: readonly BytesPerPoint[]): void {
  say(`\n${tableHead(["store", "bytes per point on the disk, 20 noisy keys of 1,000 steps", "as many times ours"])}`);
  const ours = bytesOf(found, oursName) ?? Number.NaN;
  for (const { store, bytes } of found) say(tableRow([store, shown(bytes, 1), `${shown(bytes / ours, 1)} x`]));
}

type Found = {
  readonly bytes: readonly BytesPerPoint[];
  readonly comparisons: readonly Comparison[];
  readonly verdicts?: readonly Verdict[];
};

const isWanted = (name: string): boolean => name.includes(options.only);

async function compareAll(stores: SideBySide): Promise<Found> {
  const comparisons: Comparison[] = [];
  const bytes = isWanted("bytes") ? await stores.bytesPerPoint(BYTES_RUNS) : [];
  if (bytes.length > 0) sayBytes(bytes);
  say(`\n${comparisonHead}`);
  const add = (comparison: Comparison): void => {
    comparisons.push(comparison);
    say(comparisonRows(comparison));
  };
  for (const load of fullLoads) if (isWanted(describeLoad(load))) add(await stores.writes(load));
  for (const load of timesLoads) if (isWanted(TIMES)) comparisons.push(await compareTimes(stores, load));
  for (const [points, limit] of fullReads) {
    if (isWanted(describeRead(points, limit))) add(await stores.reads(points, limit));
  }
  return { bytes, comparisons };
}

/** Measures what client times cost, and says it. */
async function compareTimes(stores: SideBySide, load: WriteLoad): Promise<Comparison> {
  const comparison = await stores.times(load, {
    pairs: TIMES_PAIRS * options.rounds,
    requests: load.points === 1 ? 3000 : 1000,
  });
  say(comparisonRows(comparison));
  const { serverCpu, allCpu, rate } = timesCost(comparison);
  const ratios = `${shown(serverCpu, 2)} x the server's CPU, ${shown(allCpu, 2)} x that of server and PostgreSQL`;
  say(`\nWith client times: ${ratios}, ${shown(rate, 2)} x the rate of without; medians of pairs.\n`);
  return comparison;
}

/** A few minutes of the same; the exit code tells whether the ratios hold. */
async function check(stores: SideBySide): Promise<Found> {
  const bytes = await stores.bytesPerPoint(BYTES_RUNS);
  sayBytes(bytes);
  say(`\n${comparisonHead}`);
  const mlflow = stores.mlflow?.name ?? "";
  const judged = [oursName, trackerRows.name, mlflow];
  const steps = await stores.writes(single(32, 8), judged);
  say(comparisonRows(steps));
  const batches = await stores.writes(batch(20), judged);
  say(comparisonRows(batches));
  const times = await compareTimes(stores, batch(2));
  const rules: RatioRule[] = [
    {
      what: `scalars a second in batches, ours over HTTP to a ${trackerRows.name}`,
      ratio: rateRatio(summarize(batches), oursName, trackerRows.name) ?? Number.NaN,
      atLeast: 3,
    },
    {
      what: `bytes of a point, a ${seriesRows.name} to ours`,
      ratio: (bytesOf(bytes, seriesRows.name) ?? Number.NaN) / (bytesOf(bytes, oursName) ?? Number.NaN),
      atLeast: 8,
    },
    { what: "single steps a second, ours to MLflow", ratio: rateRatio(summarize(steps), oursName, mlflow), atLeast: 5 },
    {
      what: "CPU of a batch without client times, server and PostgreSQL, to one with them",
      ratio: 1 / timesCost(times).allCpu,
      atLeast: 0.83,
    },
    { what: "requests that were answered", ratio: failures([steps, batches, times]) === 0 ? 1 : 0, atLeast: 1 },
  ];
  const verdicts = rules.map(judgeRatio);
  say(`\n${verdicts.map(({ line }) => line).join("\n")}`);
  if (verdicts.some(({ ok }) => !ok)) process.exitCode = 1;
  return { bytes, comparisons: [steps, batches, times], verdicts };
}

function failures(comparisons: readonly Comparison[]): number {
  const ours = comparisons.flatMap(summarize).filter(({ store }) => store === oursName);
  return ours.reduce((total, { errors }) => total + errors, 0);
}

await withFreshPostgres(async (postgres) => {
  const ceilings = options.check ? undefined : await measureCeilings(postgres.url, postgres.directory);
  if (ceilings !== undefined) say(describeMachine(ceilings));
  say(bodiesNote);
  for (const mode of options.modes) {
    say(`\n${mode}; ${options.rounds} rounds of ${options.seconds} s in turn; medians.`);
    const timing = { warmUp: WARM_UP_SECONDS, seconds: options.seconds };
    await withStores(postgres, { mode, rounds: options.rounds, timing, reduced: options.check }, async (stores) => {
      const found = await (options.check ? check(stores) : compareAll(stores));
      const stolen = found.comparisons.flatMap(({ trials }) => trials.map((trial) => trial.stolen));
      say(
        `\nThe host gave at most ${shown(Math.max(0, ...stolen) * 100, 1)} % of the machine to others during a trial.`,
      );
      if (options.json) process.stdout.write(`${JSON.stringify({ mode, ceilings, ...found }, null, 2)}\n`);
    });
  }
});
