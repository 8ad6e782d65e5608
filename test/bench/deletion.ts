import { setTimeout as pause } from "node:timers/promises";
import { createTeam } from "../stack/people.ts";
import { openBenchStack, type BenchStack } from "./bench-stack.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres } from "./fresh-postgres.ts";
import { runLoad, type Shot } from "./load.ts";
import { shown, tableHead, tableRow } from "./markdown-table.ts";
import { percentilesOf, spreadOf } from "./percentiles.ts";
import { seedRuns } from "./seed/seed-runs.ts";

// What it costs that runs and projects can be deleted: the condition in the policies, on hot paths, in turn without and with it; the polls for what was
// hidden; and a project of 100,000 runs that is deleted and restored, with what a neighbor waits meanwhile.

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const PROJECT_RUNS = 100_000;
const SETTINGS = { TIDEMARK_LIMITS: "off" };

const POLICIES = [
  { table: "runs.runs", condition: "NOT hidden OR platform.sees_deleted()" },
  { table: "runs.projects", condition: "deleted_at IS NULL OR platform.sees_deleted()" },
] as const;

async function setPolicies(bench: BenchStack, hides: boolean): Promise<void> {
  for (const { table, condition } of POLICIES) {
    const using = hides ? `org_id = platform.org_id() AND (${condition})` : "org_id = platform.org_id()";
    await bench.owner.query(`ALTER POLICY tenant ON ${table} USING (${using})`);
  }
}

async function measurePolicies(bench: BenchStack, runIds: readonly string[]): Promise<void> {
  const at = (index: number) => runIds[index % runIds.length]!;
  const get =
    (path: (index: number) => string) =>
    (index: number): Shot => ({ method: "GET", path: path(index) });
  const cases: [string, (index: number) => Shot][] = [
    ["newest 50 runs", get(() => "/runs?limit=50")],
    ["a search", get(() => "/api/runs/summary?limit=25&q=bench")],
    ["a poll for a stop", get((index) => `/api/runs/${at(index)}/stop-signal`)],
    [
      "a metric write",
      (index) => ({
        method: "POST",
        path: `/runs/${at(index)}/metrics`,
        body: JSON.stringify({ step: index, metrics: { loss: 1 } }),
      }),
    ],
  ];
  say(`\n${tableHead(["CPU µs of a request", "server, without", "with", "database, without", "with"])}`);
  for (const [name, shot] of cases) {
    const spent = {
      false: { server: [] as number[], database: [] as number[] },
      true: { server: [] as number[], database: [] as number[] },
    };
    for (let round = 0; round < 2 * options.rounds; round += 1) {
      const hides = round % 2 === 1;
      await setPolicies(bench, hides);
      const readings: Awaited<ReturnType<BenchStack["readCpu"]>>[] = [];
      const { requests, errors, firstError } = await runLoad(
        { baseUrl: bench.stack.baseUrl, key: bench.key, concurrency: 4, warmUp: 1, seconds: options.seconds, shot },
        async () => void readings.push(await bench.readCpu()),
      );
      if (errors > 0) throw new Error(firstError);
      for (const side of ["server", "database"] as const) {
        spent[`${hides}`][side].push(((readings[1]![side] - readings[0]![side]) * 1e6) / requests);
      }
    }
    const median = (hides: "false" | "true", side: "server" | "database") => shown(spreadOf(spent[hides][side]).median);
    say(
      tableRow([
        name,
        median("false", "server"),
        median("true", "server"),
        median("false", "database"),
        median("true", "database"),
      ]),
    );
  }
}

async function measurePolls(bench: BenchStack): Promise<void> {
  const calls = 5000;
  const { rows } = await bench.owner.query<{ s: string }>("SELECT pg_current_snapshot()::text AS s");
  const before = await bench.readCpu();
  for (let i = 0; i < calls; i += 1) {
    await bench.owner.query({
      name: "poll",
      text: "SELECT * FROM runs.visibility_changes_v1($1)",
      values: [rows[0]!.s],
    });
  }
  const after = await bench.readCpu();
  say(
    `\nA poll for what was hidden: ${shown(((after.database - before.database) * 1e6) / calls)} CPU µs of the database.`,
  );
}

/** Asks as a neighbor until the work is done, and returns the milliseconds of each answer. */
async function neighborDuring(bench: BenchStack, key: string, work: Promise<unknown>): Promise<number[]> {
  const waits: number[] = [];
  let isOver = false;
  void work.finally(() => (isOver = true));
  while (!isOver) {
    const startedMs = performance.now();
    const { status } = await bench.stack.api.get("/runs?limit=50", { key });
    if (status !== 200) throw new Error(`the neighbor got ${status}`);
    waits.push(performance.now() - startedMs);
    await pause(10);
  }
  return waits;
}

async function measureProject(bench: BenchStack): Promise<void> {
  const runs = Math.round(PROJECT_RUNS * options.scale);
  const team = await createTeam(bench.stack);
  const { browser } = team.owner;
  const projectId = (await browser.post("/projects", { name: "large" })).json.project.id as string;
  await seedRuns(bench.owner, [{ orgId: team.orgId, first: 1, last: runs }], { metrics: 2 });
  await bench.owner.query("UPDATE runs.runs SET project_id = $2 WHERE org_id = $1", [team.orgId, projectId]);
  await bench.owner.query("UPDATE runs.run_texts SET project_id = $2 WHERE org_id = $1", [team.orgId, projectId]);
  await bench.owner.query(
    `UPDATE runs.projects p SET (runs_running, runs_finished, runs_failed, runs_stopping, runs_finished_stopped, runs_failed_stopped) = (
       SELECT count(*) FILTER (WHERE r.status = 'running'), count(*) FILTER (WHERE r.status = 'finished'), count(*) FILTER (WHERE r.status = 'failed'),
              count(*) FILTER (WHERE r.status = 'running' AND r.display_status <> r.status),
              count(*) FILTER (WHERE r.status = 'finished' AND r.display_status <> r.status),
              count(*) FILTER (WHERE r.status = 'failed' AND r.display_status <> r.status)
       FROM runs.runs r WHERE r.org_id = p.org_id AND r.project_id = p.id) WHERE p.org_id = $1`,
    [team.orgId],
  );
  await bench.owner.query("VACUUM (ANALYZE) runs.runs");
  const { key: neighbor, orgId } = await bench.stack.organization();
  await seedRuns(bench.owner, [{ orgId, first: 1, last: 1000 }], { metrics: 2 });
  const quiet = percentilesOf(await neighborDuring(bench, neighbor, pause(5000)));
  const settled = async () => {
    for (;;) {
      const { rows } = await bench.owner.query<{ unsettled: boolean }>(
        "SELECT unsettled FROM runs.projects WHERE org_id = $1 AND id = $2",
        [team.orgId, projectId],
      );
      if (rows[0]!.unsettled === false) return;
      await pause(100);
    }
  };
  say(`\n${tableHead([`${runs} runs`, "answered, ms", "settled, s", "neighbor p50, ms", "p95", "quiet p50", "p95"])}`);
  for (const [what, method, path] of [
    ["deleted", "DELETE", `/projects/${projectId}`],
    ["restored", "POST", `/projects/${projectId}/restore`],
  ] as const) {
    const startedMs = performance.now();
    let answeredMs = Number.NaN;
    const work = browser.call(method, path, {}).then(async ({ status, text }) => {
      if (status !== 200) throw new Error(`${status} ${text}`);
      answeredMs = performance.now() - startedMs;
      await settled();
    });
    const waits = percentilesOf(await neighborDuring(bench, neighbor, work));
    await work;
    const seconds = (performance.now() - startedMs) / 1000;
    say(
      tableRow([
        what,
        shown(answeredMs),
        shown(seconds, 1),
        shown(waits.p50, 1),
        shown(waits.p95, 1),
        shown(quiet.p50, 1),
        shown(quiet.p95, 1),
      ]),
    );
  }
}

await withFreshPostgres(async (postgres) => {
  const bench = await openBenchStack(postgres, options.modes[0]!, "bench_deletion", SETTINGS);
  try {
    const runIds = await bench.newRuns(200);
    await measurePolicies(bench, runIds);
    await measurePolls(bench);
    await measureProject(bench);
  } finally {
    await bench.stop();
  }
});
