import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { cpuBetween } from "./processes.ts";
import { otherOrganizations, seedRuns } from "./seed/seed-runs.ts";

// One bulk update over as many runs as it takes, in a database that the organization shares with thousands of others.

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const scaled = (count: number, least: number): number => Math.max(least, Math.round(count * options.scale));

const RUNS = scaled(10_000, 200);
const SMALL = scaled(2000, 20);
const MEDIUM = scaled(10, 1);

const settings: readonly { readonly name: string; readonly set: object }[] = [
  { name: "tags", set: { tags: ["a", "b"] } },
  { name: "status", set: { status: "failed" } },
  { name: "notes", set: { notes: "as planned" } },
  { name: "all three", set: { status: "finished", tags: ["c"], notes: "again" } },
];

async function measure(bench: BenchStack, { name, set }: (typeof settings)[number]): Promise<object> {
  const before = await bench.readCpu();
  const from = performance.now();
  const headers = { "idempotency-key": name.replaceAll(" ", "-") };
  const { status, text, json } = await bench.api.post("/api/runs/bulk-update", { filter: {}, set }, { headers });
  const seconds = (performance.now() - from) / 1000;
  if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
  const cpu = cpuBetween(before, await bench.readCpu());
  const row = { name, updated: json.updated as number, seconds, server: cpu.server, database: cpu.database };
  say(tableRow([name, shown(row.updated), shown(seconds, 1), shown(row.server, 1), shown(row.database, 1)]));
  return row;
}

async function bench(mode: "embedded" | "split", postgres: BenchPostgres): Promise<object> {
  const stack = await openBenchStack(postgres, mode, `bench_bulk_${mode}`);
  try {
    await seedRuns(stack.owner, [...otherOrganizations(SMALL, MEDIUM), { orgId: stack.orgId, first: 1, last: RUNS }], {
      metrics: 4,
    });
    say(`\n${mode}, ${RUNS} runs.\n`);
    say(tableHead(["set", "runs updated", "seconds", "server CPU s", "PostgreSQL CPU s"]));
    const rows: object[] = [];
    for (const one of settings) rows.push(await measure(stack, one));
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
