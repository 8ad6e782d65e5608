import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { shown } from "./markdown-table.ts";
import { bodiesNote } from "./metrics/metric-bodies.ts";
import { untilCompacted } from "./metrics/compaction-state.ts";
import { latencyAt, steadyHead, steadyLine, type SteadyRate, type SteadyRow } from "./metrics/latency-at.ts";
import { valueTape } from "./metrics/metric-values.ts";
import { oursOverHttp } from "./metrics/ours-over-http.ts";
import { describeLoad, type WriteLoad } from "./metrics/write-load.ts";

// Writes of metrics at steady rates. A closed loop tells what is possible and hides what waits; these are sent come what may, with nothing else
// on their PostgreSQL.

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);

const WARM_UP_SECONDS = 2;
/** Percentiles want more answers than rates do. */
const STEADY_TIMES = 2;
const CONCURRENCY = 8;
const SHARES = [0.5, 0.8];
/** Batches also at these, in scalars a second. */
const SCALARS = [400_000, 700_000];

const batch = (keys: number): WriteLoad => ({ runs: 32, points: 500, keys, concurrency: CONCURRENCY });
const loads: readonly WriteLoad[] = [
  { runs: 32, points: 1, keys: 6, concurrency: CONCURRENCY },
  batch(2),
  batch(20),
  batch(100),
];

function ratesOf({ points, keys }: WriteLoad, capacity: number): SteadyRate[] {
  const shares = SHARES.map((share) => ({ what: `at ${shown(share * 100)} % of that`, rate: capacity * share }));
  if (points === 1) return shares;
  const fixed = SCALARS.map((scalars) => ({
    what: `at ${shown(scalars)} scalars/s`,
    rate: scalars / (points * keys),
  }));
  return [...fixed, ...shares];
}

/** What a closed loop reaches. */
async function capacityOf(bench: BenchStack, tape: Float64Array, load: WriteLoad): Promise<SteadyRow> {
  const write = await oursOverHttp(bench, tape).prepare(load);
  const { requests, seconds, p50, p95, p99, errors } = await write({
    warmUp: WARM_UP_SECONDS,
    seconds: options.seconds,
  });
  await untilCompacted(bench);
  const rate = requests / seconds;
  return { name: `${describeLoad(load)}, closed loop`, rate, answered: rate, p50, p95, p99, errors };
}

async function bench(mode: "embedded" | "split", postgres: BenchPostgres): Promise<object> {
  const stack = await openBenchStack(postgres, mode, `bench_steady_${mode}`);
  const tape = valueTape();
  const rows: SteadyRow[] = [];
  const add = (row: SteadyRow): void => {
    rows.push(row);
    say(steadyLine(row));
  };
  try {
    say(`\n${mode}, 1 organization.\n\n${steadyHead}`);
    for (const load of loads.filter((one) => describeLoad(one).includes(options.only))) {
      const capacity = await capacityOf(stack, tape, load);
      add(capacity);
      for (const steady of ratesOf(load, capacity.rate)) {
        add(await latencyAt(stack, tape, { load, steady, seconds: options.seconds * STEADY_TIMES }));
      }
    }
    return { mode, rows };
  } finally {
    await stack.stop();
  }
}

await withFreshPostgres(async (postgres) => {
  say(bodiesNote);
  for (const mode of options.modes) {
    const found = await bench(mode, postgres);
    if (options.json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  }
});
