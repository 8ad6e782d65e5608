import { startBackground } from "./frame/background.ts";
import type { Bench, BenchContext } from "./frame/bench.ts";
import { measureRead } from "./frame/measure.ts";
import { medianOf } from "./frame/percentiles.ts";
import { shown } from "./frame/report.ts";
import type { BenchStack } from "./frame/stack.ts";
import { commonReads, type ListRead } from "./lists/reads.ts";
import { seedRuns } from "./seed/seed-runs.ts";
import { seedSkewed } from "./seed/skewed.ts";
import { withSender, type Sender, type Shot } from "./frame/sender.ts";
import { stepPlace } from "./frame/step-places.ts";

const RUNS = 12_000;
const FRESH_RUNS = 10_000;
/** Seconds from one write of a running run to the next. */
const WRITE_SECONDS = 20;
/** A plan that reads the whole of an organization costs 8 times and more; smaller ratios may be noise. */
const RATIO_MAX = 5;

/** An organization that is measured, and where it is. */
type Side = { readonly bench: BenchStack; readonly key: string };

/** Measures a read on both sides in turn, and returns the medians. */
async function mediansOf(
  { seconds, rounds }: BenchContext,
  { path }: ListRead,
  sides: readonly [Side, Side],
): Promise<{ first: number; second: number; ratio: number }> {
  const found: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, { bench, key }] of sides.entries()) {
      const load = { seconds: seconds / rounds, key, samplesMin: 10 };
      const measured = await measureRead(bench, { method: "GET", path }, load);
      if (measured.errors > 0) throw new Error(`${path}: ${String(measured.firstError)}`);
      found[at]!.push(measured.p50);
    }
  }
  const [first, second] = [medianOf(found[0]), medianOf(found[1])];
  return { first, second, ratio: second / first };
}

/** Measures all reads. Reports the ratio of the second side's median to the first side's, for the worst read. */
async function compare(
  context: BenchContext,
  { what, sides, wanted }: { what: string; sides: readonly [Side, Side]; wanted: number },
): Promise<void> {
  const { report, wants } = context;
  const lines: string[] = [];
  let worst: { read: ListRead; ratio: number } | undefined;
  for (const read of Object.values(commonReads).filter(({ name }) => wants(name))) {
    let found = await mediansOf(context, read, sides);
    // Other work on the machine may have slowed one side; that rarely happens twice.
    if (found.ratio > wanted) found = await mediansOf(context, read, sides);
    const { first, second, ratio } = found;
    lines.push(`- ${read.name}: ${shown(first, 1)} and ${shown(second, 1)} ms, ${shown(ratio, 2)} times`);
    if (worst === undefined || ratio > worst.ratio) worst = { read, ratio };
  }
  if (worst === undefined) return;
  report.say(`p50 of reads ${what}:\n${lines.join("\n")}`);
  const which = `reads ${what}, times p50, worst: ${worst.read.name}`;
  report.target({ row: 11, what: which, value: worst.ratio, wanted, limit: RATIO_MAX });
}

/** Lists of an organization among thousands of others and of the same one alone; of runs that are being written and of runs at rest. */
export const tenants: Bench = {
  about: "lists among thousands of organizations, and of runs that are being written (row 11)",
  async run(context) {
    const { open, scaled } = context;
    const [runs, freshRuns] = [scaled(RUNS, 200), scaled(FRESH_RUNS, 200)];
    const alone = await open();
    await seedRuns(alone.owner, [{ orgId: alone.orgId, first: 1, last: runs }]);
    const bench = await open();
    const [still, fresh] = [await bench.stack.organization(), await bench.stack.organization()];
    // Statistics are left to autovacuum.
    await seedSkewed(context, bench, [{ orgId: bench.orgId, runs }], { vacuum: false });
    const atRest = { orgId: still.orgId, first: 1, last: freshRuns };
    await seedRuns(bench.owner, [atRest], { metrics: FRESH_KEYS.length, vacuum: false });
    const sides = (first: Side, key: string): [Side, Side] => [first, { bench, key }];
    await compare(context, {
      what: "alone and among 2,000 organizations",
      sides: sides({ bench: alone, key: alone.key }, bench.key),
      wanted: 1.5,
    });
    const shots = await writeFreshRuns(bench, { key: fresh.key, like: still.orgId, runs: freshRuns });
    const written = sides({ bench, key: still.key }, fresh.key);
    await compare(context, {
      what: "of runs at rest and of runs written just now",
      sides: written,
      wanted: 2,
    });
    const writing = await startBackground({
      baseUrl: bench.stack.baseUrl,
      key: fresh.key,
      concurrency: 32,
      rate: freshRuns / WRITE_SECONDS,
      shots,
      firstRound: 1,
    });
    await compare(context, { what: "of runs at rest and of runs being written", sides: written, wanted: 2 });
    const { answered, errors, firstError = "" } = await writing.stop();
    context.report.say(`${shown(answered)} writes were answered meanwhile, ${errors} were not. ${firstError}`);
  },
};

/** Requests that are on the way simultaneously. */
const CONNECTIONS = 8;
/** Metric keys of each run. */
const FRESH_KEYS = ["eval/loss", "train/accuracy", "train/grad_norm", "train/loss", "train/lr", "train/tokens"];

type SeededRun = { name: string; project: string; config: string; tags: string[]; metadata: string };

const SEEDED = `
  SELECT r.name, p.name AS project, r.config, r.tags, r.metadata
  FROM runs.runs r JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
  WHERE r.org_id = $1 ORDER BY r.created_at DESC LIMIT $2`;

/**
 * Creates runs with the names and documents of runs of the organization `like`, and logs a step to each, all through the API. The runs are running, and
 * PostgreSQL has had no time to look at them. Returns requests that log the next step of each, for rounds from 1.
 */
async function writeFreshRuns(
  { stack, owner }: BenchStack,
  { key, like, runs }: { readonly key: string; readonly like: string; readonly runs: number },
): Promise<Shot[]> {
  const { rows } = await owner.query<SeededRun>(SEEDED, [like, runs]);
  return withSender({ baseUrl: stack.baseUrl, key }, CONNECTIONS, async (sender) => {
    const ids: string[] = [];
    await sendAll(sender, rows.map(createOf), (text) => {
      ids.push((JSON.parse(text) as { run: { id: string } }).run.id);
    });
    await sendAll(
      sender,
      ids.map((id) => logOf(id, 0)),
    );
    return ids.map((id) => logOf(id, stepPlace(0, 1)));
  });
}

function createOf({ name, project, config, tags, metadata }: SeededRun): Shot {
  const [nameText, projectText, tagsText] = [name, project, tags].map((value) => JSON.stringify(value));
  const body = `{"name":${nameText},"project":${projectText},"config":${config},"tags":${tagsText},"metadata":${metadata}}`;
  return { method: "POST", path: "/runs", body };
}

function logOf(runId: string, step: number | string): Shot {
  const metrics = Object.fromEntries(FRESH_KEYS.map((name) => [name, Math.random()]));
  const body = JSON.stringify({ metrics, step, timestamp: new Date().toISOString() });
  return { method: "POST", path: `/runs/${runId}/metrics`, body, keyed: true };
}

async function sendAll(sender: Sender, shots: readonly Shot[], take?: (text: string) => void): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let shot = shots[next++]; shot !== undefined; shot = shots[next++]) {
      const text = await sender.ask(shot);
      take?.(text);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}
