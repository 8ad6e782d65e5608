import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { runLoad } from "./load.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { startBackgroundLoad } from "./metrics/background-load.ts";
import { judgeRatio, type RatioRule } from "./metrics/check-ratios.ts";
import type { WriteLoad } from "./metrics/write-load.ts";
import { cpuBetween } from "./processes.ts";
import { otherOrganizations, seedRuns, type SeededRuns } from "./seed/seed-runs.ts";
import { writeFreshRuns } from "./skew/fresh-runs.ts";
import { listCases, type ListCase } from "./skew/list-cases.ts";

// Lists, searches and overviews of organizations that share the database with thousands of others, beside the same organization alone in a database;
// then of an organization whose runs were just created and logged to, and of one whose runs are all being written, beside one that is at rest.

const SMALL = 2000;
const MEDIUM = 10;
const LARGE_RUNS = 100_000;
const MIDDLE_RUNS = 12_000;
const FRESH_RUNS = 10_000;
/** Each running run is written to every 20 s. */
const WRITE_SECONDS = 20;
const WARM_UP_SECONDS = 0.3;
/** At most, against one tenant alone, and against the same runs at rest. */
const SETTLED_MAX = 1.5;
const FRESH_MAX = 2;

const options = parseBenchArguments(process.argv.slice(2));
const { scale, check, only } = options;
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const scaled = (count: number): number => Math.max(1, Math.round(count * scale));
const cases = listCases.filter(({ name }) => name.includes(only));
const rules: RatioRule[] = [];

/** An organization that is measured, and where it is. */
type Side = { readonly bench: BenchStack; readonly key: string };
/** Milliseconds: the median, and what PostgreSQL worked for each request. */
type Measured = { readonly p50: number; readonly database: number };

async function measureOnce({ bench, key }: Side, path: string, seconds: number): Promise<Measured> {
  const readings: Awaited<ReturnType<BenchStack["readCpu"]>>[] = [];
  const load = { baseUrl: bench.stack.baseUrl, key, concurrency: 1, warmUp: WARM_UP_SECONDS, seconds };
  const result = await runLoad({ ...load, shot: () => ({ method: "GET", path }) }, async () => {
    readings.push(await bench.readCpu());
  });
  if (result.errors > 0) throw new Error(`${path}: ${result.firstError}`);
  const { database } = cpuBetween(readings[0]!, readings[1]!);
  return { p50: result.p50, database: (database * 1000) / result.requests };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Measures a case on each side in turn, several times, and returns the medians. */
async function measureInTurn(sides: readonly Side[], { path }: ListCase, rounds: number): Promise<Measured[]> {
  const found: Measured[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, side] of sides.entries()) found[i]!.push(await measureOnce(side, path, options.seconds / rounds));
  }
  return found.map((all) => ({
    p50: median(all.map(({ p50 }) => p50)),
    database: median(all.map(({ database }) => database)),
  }));
}

const cell = ({ p50, database }: Measured): string => `${shown(p50, 1)} (${shown(database, 2)})`;

/** Measures all cases on two sides, prints a line for each, and notes how many times the first the second may be. */
async function compare(what: string, sides: readonly [Side, Side], wanted: readonly ListCase[], atMost: number) {
  for (const wantedCase of wanted) {
    const [first, second] = await measureInTurn(sides, wantedCase, options.rounds);
    const ratio = second!.p50 / first!.p50;
    say(
      tableRow([
        wantedCase.name,
        what,
        cell(first!),
        cell(second!),
        shown(ratio, 2),
        shown(second!.database / first!.database, 2),
      ]),
    );
    rules.push({ what: `${wantedCase.name}, ${what}`, ratio, atMost });
  }
}

const head = (first: string, second: string): string =>
  `\n${tableHead(["read", "of", `${first}: p50 ms (PostgreSQL ms of CPU)`, second, "ratio of p50", "ratio of CPU"])}`;

async function seed(bench: BenchStack, organizations: readonly SeededRuns[], metrics?: number): Promise<void> {
  const total = organizations.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const started = performance.now();
  let told = 0;
  await seedRuns(bench.owner, organizations, {
    vacuum: false,
    ...(metrics === undefined ? {} : { metrics }),
    onProgress: (done) => {
      if (done < total && done - told < 20_000) return;
      told = done;
      say(`seeded ${shown(done)} of ${shown(total)} runs, ${shown((performance.now() - started) / 1000)} s`);
    },
  });
}

const sizes = check ? [MIDDLE_RUNS] : [MIDDLE_RUNS, LARGE_RUNS];

/** Opens a database for each size with one organization of that many runs. */
async function openAlone(postgres: BenchPostgres): Promise<Map<number, Side>> {
  const alone = new Map<number, Side>();
  for (const size of sizes) {
    const bench = await openBenchStack(postgres, "embedded", `alone_${size}`);
    await seed(bench, [{ orgId: bench.orgId, first: 1, last: scaled(size) }]);
    // Nothing happens here any more, so autovacuum has no reason to come soon.
    await bench.owner.query("VACUUM ANALYZE");
    alone.set(size, { bench, key: bench.key });
  }
  return alone;
}

await withFreshPostgres(async (postgres) => {
  const alone = await openAlone(postgres);
  const bench = await openBenchStack(postgres, "embedded", "shared");
  try {
    const made = async () => {
      const { orgId, key } = await bench.stack.organization();
      return { orgId, key, side: { bench, key } };
    };
    const large = await made();
    const middle = await made();
    const still = await made();
    const upTo = (orgId: string, runs: number): SeededRuns => ({ orgId, first: 1, last: scaled(runs) });
    await seed(bench, [
      ...otherOrganizations(scaled(SMALL), scaled(MEDIUM)),
      upTo(large.orgId, LARGE_RUNS),
      upTo(middle.orgId, MIDDLE_RUNS),
    ]);
    const load: WriteLoad = { runs: scaled(FRESH_RUNS), points: 1, keys: 6, concurrency: 8 };
    await seed(bench, [upTo(still.orgId, FRESH_RUNS)], load.keys);

    say(head("alone", "among 2,000 others"));
    const shared = new Map([
      [MIDDLE_RUNS, middle.side],
      [LARGE_RUNS, large.side],
    ]);
    for (const [size, side] of alone) {
      await compare(`${shown(scaled(size))} runs`, [side, shared.get(size)!], cases, SETTLED_MAX);
    }

    const fresh = await made();
    const { runIds, createsPerSecond, writesPerSecond } = await writeFreshRuns(bench, {
      key: fresh.key,
      like: still.orgId,
      load,
    });
    say(
      `\n${shown(load.runs)} runs created (${shown(createsPerSecond)}/s) and logged to (${shown(writesPerSecond)}/s) just now.`,
    );
    const freshCases = cases.filter((wanted) => wanted.fresh);
    say(head("at rest", "just written"));
    await compare("runs created in the last minutes", [still.side, fresh.side], freshCases, FRESH_MAX);

    const rate = load.runs / WRITE_SECONDS;
    const writes = await startBackgroundLoad({ ...load, baseUrl: bench.stack.baseUrl, key: fresh.key, runIds, rate });
    say(head(`at rest, while ${shown(rate)} writes/s go on`, "runs that are being written"));
    await compare(`runs that are written every ${WRITE_SECONDS} s`, [still.side, fresh.side], freshCases, FRESH_MAX);
    const { answered, seconds, p50, p95, errors } = await writes.stop();
    say(
      `\n${shown(answered / seconds)} writes/s were answered, p50 ${shown(p50, 1)} ms, p95 ${shown(p95, 1)} ms, ${errors} errors.`,
    );
  } finally {
    await bench.stop();
    for (const side of alone.values()) await side.bench.stop();
  }
});

if (check) {
  const verdicts = rules.map(judgeRatio);
  say("");
  for (const { line } of verdicts) say(line);
  if (verdicts.some(({ ok }) => !ok)) process.exitCode = 1;
}
