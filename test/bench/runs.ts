import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "@tidemark/local";
import pg from "pg";
import { startStack, type OwnStack } from "../stack/stack.ts";
import type { Api } from "../stack/client.ts";
import { parseBenchArguments } from "./command-line.ts";
import { cpuOfTree } from "./cpu.ts";
import { runLoad } from "./load.ts";
import { seedRuns, seedWideRuns } from "./seed/seed-runs.ts";

// Lists, searches, sorts, overview and comparison at two sizes of an organization, so that the growth
// shows: one client, one request at a time, over HTTP.

const SIZES = [10_000, 100_000];
const WARM_UP_SECONDS = 1;

/** Twelve columns of each kind. */
const TABLE_COLUMNS = [
  ...["lr", "optimizer", "seed", "batch_size", "model.depth", "model.family"].map((path) => `config.${path}`),
  ...["eval/return_mean.best", "eval/return_mean", "eval/loss.best", "eval/loss.mean"].map((key) => `metrics.${key}`),
  ...["note", "config/lr"].map((path) => `attributes.${path}`),
];

type Case = { readonly name: string; readonly path: string };

/** What is asked of each organization; `deep` and `wide` lead to what was prepared in it. */
function casesOf({ deep, wide, projectId }: { deep: string; wide: readonly string[]; projectId: string }): Case[] {
  const summary = (query: string): string => `/api/runs/summary?limit=25&${query}`;
  const search = (q: string): string => summary(`q=${encodeURIComponent(q)}`);
  const table = (query: string): string => `/api/runs/summary?limit=50&columns=${TABLE_COLUMNS.join(",")}&${query}`;
  return [
    { name: "newest 25", path: "/runs?limit=25" },
    { name: "newest 25 with total", path: summary("") },
    { name: "newest 25 for choosing (selection)", path: summary("projection=selection") },
    { name: "page 1,000 by cursor", path: summary(`cursor=${deep}`) },
    { name: "rare tag, with total", path: search("tag:paper-fig3") },
    { name: "rare literal, with total", path: search("canyon-4711") },
    { name: "common literal (one in four), no total", path: `/runs?limit=25&q=adamw` },
    { name: "common literal (one in four), with total", path: search("adamw") },
    {
      name: "boolean of rare terms, with total",
      path: search("tag:paper-fig3 AND -notes:reviewer AND (lion OR status:failed)"),
    },
    {
      name: "boolean of common terms, no total",
      path: `/runs?limit=25&q=${encodeURIComponent("tag:team-7 AND -notes:reviewer AND (lion OR status:failed)")}`,
    },
    {
      name: "boolean of common terms, with total",
      path: search("tag:team-7 AND -notes:reviewer AND (lion OR status:failed)"),
    },
    { name: "two letters (no trigram), with total", path: search("zz") },
    { name: "regex over few runs, with total", path: search(String.raw`tag:paper-fig3 re:/"lr":0\.0+[13],/`) },
    { name: "regex with literals, with total", path: search(String.raw`re:/gpu-node-17\.cluster.*tokenizer/`) },
    { name: "regex over all runs, with total", path: search(String.raw`config:re:/"depth":4[0-9],/`) },
    { name: "metric-best", path: summary("sort_by=metric-best&metric_key=eval/return_mean") },
    { name: "metric-best, less is better", path: summary("sort_by=metric-best&metric_key=eval/loss") },
    { name: "metric-latest", path: summary("sort_by=metric-latest&metric_key=eval/f1") },
    { name: "metric-best in a project, failed", path: summary("sort_by=metric-best&project=rl-control&status=failed") },
    { name: "metric-best of a rare tag", path: `${search("tag:paper-fig3")}&sort_by=metric-best` },
    {
      name: "table: 50 rows of 12 columns by a best metric",
      path: table("sort_by=metrics.eval/return_mean.best&sort_dir=desc"),
    },
    {
      name: "table: the same without metrics",
      path: `${table("sort_by=metrics.eval/return_mean.best&sort_dir=desc")}&projection=selection`,
    },
    { name: "table: by a config key", path: table("sort_by=config.model.depth&projection=selection") },
    {
      name: "table: by a config key, from row 90,000",
      path: table("sort_by=config.model.depth&projection=selection&offset=90000"),
    },
    {
      name: "table: by a best metric, from row 90,000",
      path: table("sort_by=metrics.eval/return_mean.best&projection=selection&offset=90000"),
    },
    {
      name: "table: filter by a config key",
      path: `${table("projection=selection")}&q=${encodeURIComponent("config.model.depth>40")}`,
    },
    {
      name: "table: filter by a metric",
      path: `${table("projection=selection")}&q=${encodeURIComponent("metrics.eval/return_mean.best>2")}`,
    },
    { name: "table: keys of a project", path: `/api/projects/${projectId}/keys?limit=100` },
    { name: "by name", path: summary("sort_by=name") },
    { name: "by status", path: summary("sort_by=status") },
    { name: "by duration", path: summary("sort_by=duration") },
    { name: "overview of the organization", path: "/api/overview" },
    { name: "overview of a project", path: "/api/overview?project=rl-control" },
    { name: "overview of failed runs", path: "/api/overview?status=failed" },
    {
      name: "side by side, 50 runs, 5,000 rows, diff_only",
      path: `/api/runs/side-by-side?diff_only=true&run_ids=${wide.join(",")}`,
    },
  ];
}

async function prepare(stack: OwnStack, client: pg.Client, runs: number, say: (text: string) => void) {
  const { api, key, orgId } = await stack.organization();
  const started = performance.now();
  await seedRuns(client, [{ orgId, first: 1, last: runs }], {
    onProgress: (done) => {
      if (done % 10_000 === 0) say(`seeded ${done} of ${runs} runs`);
    },
  });
  const wide = await seedWideRuns(client, { orgId, runs: 50, metrics: 1700 });
  say(`seeded ${runs} runs in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  const projects = (await api.get("/projects")).json.projects as { id: string; name: string }[];
  const projectId = projects.find(({ name }) => name === "rl-control")!.id;
  return { key, cases: casesOf({ deep: await deepCursor(api), wide, projectId }) };
}

/** Leads to page 1,000 of 25 runs each, or to the middle of a smaller list. */
async function deepCursor(api: Api): Promise<string> {
  const { json } = await api.get("/api/runs/summary?limit=1");
  const offset = Math.min(25_000, Math.floor((json.total as number) / 2));
  const page = await api.get(`/api/runs/summary?limit=1&projection=selection&offset=${offset}`);
  return page.json.next_cursor as string;
}

const options = parseBenchArguments(process.argv.slice(2));
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const directory = await mkdtemp(join(tmpdir(), "tidemark-bench-"));
const postgres = await startPostgres({ dataDir: join(directory, "postgres"), log: () => {} });
const client = new pg.Client({ connectionString: postgres.url });
try {
  for (const mode of options.modes) {
    const url = new URL(postgres.url);
    await client.connect().catch(() => {});
    await client.query(`CREATE DATABASE bench_${mode}`);
    url.pathname = `/bench_${mode}`;
    const stack = await startStack(mode, { databaseUrl: url.href, settings: { TIDEMARK_LOG_LEVEL: "error" } });
    const owner = new pg.Client({ connectionString: url.href });
    await owner.connect();
    try {
      say(
        `${cpus().length} x ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}, ${mode}, one client.`,
      );
      const sizes = [];
      for (const runs of SIZES) sizes.push({ runs, ...(await prepare(stack, owner, runs, say)) });
      say(
        "| case | runs | requests/s | p50 ms | p95 ms | p99 ms | CPU µs/request: server + PostgreSQL | bytes | errors |",
      );
      say("|---|---|---|---|---|---|---|---|---|");
      const names = sizes[0]?.cases.map(({ name }) => name).filter((name) => name.includes(options.only)) ?? [];
      for (const name of names) {
        for (const { runs, key, cases } of sizes) {
          const path = cases.find((candidate) => candidate.name === name)!.path;
          say(await measure(stack, postgres.pid, { name, runs, key, path, seconds: options.seconds }));
        }
      }
    } finally {
      await owner.end();
      await stack.stop();
    }
  }
} finally {
  await client.end();
  await postgres.stop();
  await rm(directory, { recursive: true, force: true });
}

async function measure(
  stack: OwnStack,
  postgresPid: number,
  { name, runs, key, path, seconds }: { name: string; runs: number; key: string; path: string; seconds: number },
): Promise<string> {
  const answer = await fetch(`${stack.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const bytes = (await answer.text()).length;
  const pids = [...new Set([...stack.children.values()].map(({ pid }) => pid))];
  const readings: { server: number; database: number }[] = [];
  const read = async (): Promise<void> => {
    const servers = await Promise.all(pids.map(cpuOfTree));
    readings.push({
      server: servers.reduce<number>((sum, value) => sum + (value ?? 0), 0),
      database: (await cpuOfTree(postgresPid)) ?? Number.NaN,
    });
  };
  const load = { baseUrl: stack.baseUrl, key, concurrency: 1, warmUp: WARM_UP_SECONDS, seconds };
  const result = await runLoad({ ...load, shot: () => ({ method: "GET", path }) }, read);
  const [before, after] = readings;
  const per = (side: "server" | "database"): string =>
    ((((after?.[side] ?? 0) - (before?.[side] ?? 0)) * 1e6) / result.requests).toFixed(0);
  const cells = [
    name,
    runs,
    (result.requests / result.seconds).toFixed(0),
    result.p50.toFixed(1),
    result.p95.toFixed(1),
    result.p99.toFixed(1),
    `${per("server")} + ${per("database")}`,
    bytes,
    result.errors === 0 ? 0 : `${result.errors}: ${result.firstError}`,
  ];
  return `| ${cells.join(" | ")} |`;
}
