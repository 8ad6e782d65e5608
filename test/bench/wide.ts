import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { measureRead, readHead, readLine, type ReadCase, type ReadRow } from "./http-reads.ts";
import { shown } from "./markdown-table.ts";
import { bodiesNote } from "./metrics/metric-bodies.ts";
import { byMinute, minuteTable, type Minute } from "./metrics/by-minute.ts";
import { readCatalog } from "./metrics/read-catalog.ts";
import { untilCompacted } from "./metrics/compaction-state.ts";
import { untilAtRest } from "./metrics/until-at-rest.ts";
import { valueTape } from "./metrics/metric-values.ts";
import { sampleProcesses } from "./metrics/sample-processes.ts";
import { neptuneProfile, wideKey, widePlace, wideRate, wideShots, type WideProfile } from "./metrics/wide-load.ts";
import { runOpenLoop, type OpenLoopAnswer } from "./open-loop.ts";
import { openSender, type Sender } from "./open-sender.ts";

// Runs with 99,000 keys each, as Neptune's load generator has them, for some minutes; then reads of a run with 100,000 keys.

const IN_FLIGHT_MAX = 64;
const EXTRA_KEYS = 1000;
const CATALOGUE_SAMPLES = 20;

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const profile: WideProfile = {
  ...neptuneProfile,
  keys: Math.max(1000, Math.round(neptuneProfile.keys * options.scale)),
};
const shotOf = wideShots(valueTape(), profile.keys + EXTRA_KEYS);

async function writeProfile(bench: BenchStack, sender: Sender, runIds: readonly string[]): Promise<Minute[]> {
  const seconds = options.minutes * 60;
  const answers: OpenLoopAnswer[] = [];
  const sampling = sampleProcesses(bench);
  await runOpenLoop({
    rate: wideRate(profile),
    seconds,
    inFlightMax: IN_FLIGHT_MAX,
    send: (index) => {
      const { run, ...place } = widePlace(profile, index);
      return sender.send(shotOf({ runId: runIds[run]!, ...place }));
    },
    onAnswer: (answer) => {
      if (answer.error instanceof Error && answers.every(({ error }) => error === undefined)) say(answer.error.message);
      answers.push(answer);
    },
  });
  return byMinute(answers, await sampling.stop(), seconds);
}

function readsOf(runId: string, keys: number): ReadCase[] {
  const key = (index: number): string => wideKey((index * 7919) % keys);
  return [
    {
      name: "GET /runs/{id}, first 1,000 keys",
      shot: () => ({ method: "GET", path: `/runs/${runId}?metric_limit=1000` }),
    },
    { name: "GET /runs/{id}/metrics, 1,000 points", shot: () => ({ method: "GET", path: `/runs/${runId}/metrics` }) },
    {
      name: "GET /runs/{id}/metrics of one key",
      shot: (index) => ({ method: "GET", path: `/runs/${runId}/metrics?key=${encodeURIComponent(key(index))}` }),
    },
    {
      name: "POST /api/metrics/series of one key",
      shot: (index) => ({
        method: "POST",
        path: "/api/metrics/series",
        body: JSON.stringify({ key: key(index), run_ids: [runId] }),
      }),
    },
  ];
}

async function readWideRun(bench: BenchStack, runId: string, keys: number, when: string): Promise<ReadRow[]> {
  const rows: ReadRow[] = [];
  const add = (row: ReadRow): void => {
    rows.push(row);
    say(readLine(row));
  };
  for (const read of readsOf(runId, keys)) add(await measureRead(bench, read, { when, seconds: options.seconds }));
  add(await readCatalog(bench, runId, { when, samples: CATALOGUE_SAMPLES }));
  return rows;
}

async function bench(mode: "embedded" | "split", postgres: BenchPostgres): Promise<object> {
  const stack = await openBenchStack(postgres, mode, `bench_wide_${mode}`);
  const sender = openSender({ baseUrl: stack.stack.baseUrl, key: stack.key, connections: IN_FLIGHT_MAX });
  try {
    const runIds = await stack.newRuns(profile.runs);
    say(
      `\n${mode}: ${profile.runs} runs of 1 organization x ${shown(profile.keys)} keys, a value of each every ${profile.everySeconds} s: ` +
        `${shown(wideRate(profile), 1)} requests/s of ${shown(profile.keysPerRequest)} keys, open loop, ${options.minutes} minutes.\n`,
    );
    const minutes = await writeProfile(stack, sender, runIds);
    say(minuteTable(minutes, profile.keysPerRequest));
    const step = Math.ceil((options.minutes * 60) / profile.everySeconds);
    await sender.send(shotOf({ runId: runIds[0]!, firstKey: profile.keys, keys: EXTRA_KEYS, step }));
    say(`\nCompacted ${shown(await untilCompacted(stack), 1)} s after the last write.\n\n${readHead}`);
    const keys = profile.keys + EXTRA_KEYS;
    const what = `run of ${shown(keys)} keys`;
    const reads = await readWideRun(stack, runIds[0]!, keys, `${what}, right after`);
    // Until then the dead rows of ten minutes are cleared away and millions of sort values are indexed, which takes the other core.
    const restSeconds = await untilAtRest(stack);
    reads.push(...(await readWideRun(stack, runIds[0]!, keys, `${what}, at rest ${shown(restSeconds)} s later`)));
    return { mode, minutes: minutes.map((one) => ({ ...one, memory: Object.fromEntries(one.memory) })), reads };
  } finally {
    await sender.close();
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
