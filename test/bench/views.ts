import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { untilCompacted } from "./metrics/compaction-state.ts";
import { fillRuns } from "./metrics/fill-runs.ts";
import { seriesValues } from "./metrics/metric-values.ts";
import { percentilesOf } from "./percentiles.ts";
import { cpuBetween } from "./processes.ts";
import { otherOrganizations, seedRuns } from "./seed/seed-runs.ts";

// The data of views of 1 and of 50 panels over 100 runs, and of embed sessions of 100 runs, in a database that the organization shares with thousands of others.

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const scaled = (count: number, least: number): number => Math.max(least, Math.round(count * options.scale));

const RUNS = scaled(100, 8);
const STEPS = 1000;
const KEYS = Array.from({ length: 50 }, (_, i) => `train/metric_${String(i).padStart(2, "0")}`);
const SMALL = scaled(2000, 20);
const MEDIUM = scaled(10, 1);
const LISTED_RUNS = scaled(100_000, 1000);
const REQUESTS = 60;
/** A session is read three times in a row before it has to wait, and a key makes twenty a minute. */
const EMBED_READS = 3;
const EMBEDS = 19;

type Case = { readonly name: string; readonly send: (i: number) => Promise<number> };

const panels = (count: number, type: string) => ({
  sections: [{ panels: KEYS.slice(0, count).map((metricKey) => ({ metricKey, type })) }],
});

async function viewCase(bench: BenchStack, runIds: readonly string[], name: string, view: object): Promise<Case> {
  const send = async (): Promise<number> => {
    const body = { view, run_ids: runIds, options: { max_panels: 50 } };
    const answer = await bench.api.post("/api/workspace-view-data", body);
    if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${answer.text}`);
    return Buffer.byteLength(answer.text);
  };
  await send();
  return { name, send };
}

async function embedCase(bench: BenchStack, runIds: readonly string[]): Promise<Case> {
  const sessions: { id: string; token: string }[] = [];
  for (let i = 0; i < EMBEDS; i += 1) {
    const { json, status, text } = await bench.api.post("/api/embed/sessions", {
      run_ids: runIds,
      allowed_parent_origin: "https://portal.example",
    });
    if (status !== 200) throw new Error(`no embed session: ${status} ${text}`);
    sessions.push({ id: json.embed_session.id, token: json.embed_token });
  }
  return {
    name: `embed data of ${runIds.length} runs`,
    async send(i) {
      const { id, token } = sessions[Math.floor(i / EMBED_READS) % EMBEDS]!;
      const answer = await bench.stack.api.as(token).post(`/api/embed/sessions/${id}/runs/data`, {});
      if (answer.status !== 200) throw new Error(`embed data: ${answer.status} ${answer.text}`);
      return Buffer.byteLength(answer.text);
    },
  };
}

async function measure(bench: BenchStack, { name, send }: Case, requests: number): Promise<object> {
  const latencies: number[] = [];
  let bytes = 0;
  const before = await bench.readCpu();
  for (let i = 0; i < requests; i += 1) {
    const from = performance.now();
    bytes = await send(i);
    latencies.push(performance.now() - from);
  }
  const cpu = cpuBetween(before, await bench.readCpu());
  const { p50, p95 } = percentilesOf(latencies);
  const each = (seconds: number): number => (seconds * 1000) / requests;
  const row = { name, p50, p95, server: each(cpu.server), database: each(cpu.database), bytes };
  say(tableRow([name, shown(p50, 1), shown(p95, 1), shown(row.server, 1), shown(row.database, 1), shown(bytes)]));
  return row;
}

async function bench(mode: "embedded" | "split", postgres: BenchPostgres): Promise<object> {
  const stack = await openBenchStack(postgres, mode, `bench_views_${mode}`);
  try {
    await seedRuns(
      stack.owner,
      [...otherOrganizations(SMALL, MEDIUM), { orgId: stack.orgId, first: 1, last: LISTED_RUNS }],
      { metrics: 4 },
    );
    const runIds = await stack.newRuns(RUNS);
    await fillRuns(stack, runIds, {
      keys: KEYS,
      seriesOf: (run) => KEYS.map((_key, at) => seriesValues("noisy", STEPS, 1 + run * KEYS.length + at)),
      stepsPerRequest: 250,
    });
    await untilCompacted(stack);
    await stack.owner.query("VACUUM ANALYZE");
    say(`\n${mode}, one client, ${RUNS} runs of ${KEYS.length} keys and ${STEPS} steps.\n`);
    say(tableHead(["read", "p50 ms", "p95 ms", "server CPU ms", "PostgreSQL CPU ms", "bytes"]));
    const cases = [
      await viewCase(stack, runIds, "one line panel", panels(1, "line")),
      await viewCase(stack, runIds, "20 line panels", panels(20, "line")),
      await viewCase(stack, runIds, "50 line panels", panels(50, "line")),
      await viewCase(stack, runIds, "50 bar panels", panels(50, "bar")),
      await embedCase(stack, runIds),
    ].filter(({ name }) => name.includes(options.only));
    const rows: object[] = [];
    for (const one of cases) {
      rows.push(await measure(stack, one, one.name.startsWith("embed") ? EMBEDS * EMBED_READS : REQUESTS));
    }
    return { mode, rows };
  } finally {
    await stack.stop();
  }
}

await withFreshPostgres(async (postgres) => {
  for (const mode of options.modes) {
    const found = await bench(mode, postgres);
    if (options.json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  }
});
