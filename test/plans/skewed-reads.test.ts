import { mkdtemp, rm } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startPostgres, type Postgres } from "@tidemark/local";
import { until } from "@tidemark/testkit";
import pg from "pg";
import { seedArtifacts, type SeededArtifacts } from "../bench/artifacts/seed-artifacts.ts";
import { otherOrganizations, seedRuns } from "../bench/seed/seed-runs.ts";
import type { Api } from "../stack/client.ts";
import { startStack, type OwnStack } from "../stack/stack.ts";
import { createPlanLog, describeReads, logPlans, planSettings, type Executed } from "./executed-plans.ts";
import { columnReads } from "./column-reads.ts";
import { seedImports, seedReports } from "./seed-rows.ts";

// What PostgreSQL reads for each request of the product, in a database where 2,000 small organizations, ten of 1,000 runs and one of 100,000 share
// the tables: before PostgreSQL has looked at any of them, with complete statistics, and after these are gone. A plan that was made for the
// average organization reads thousands of rows for a page of few. All requests are in one file, because they share a database that takes long to fill.

const LARGE_RUNS = 100_000;
/** Traces of a run of the organization with so many runs. */
const LARGE_TRACES = 100_000;
/** A request may switch PostgreSQL to another plan after five. */
const REQUESTS_BEFORE = 6;
const WRITTEN = "an organization whose runs are all being written";
const directory = mkdtemp(join(tmpdir(), "tidemark-plans-"));

let postgres: Postgres;
let owner: pg.Client;
let stack: OwnStack;
const plans = createPlanLog(() => owner);
type Tenant = {
  readonly api: Api;
  /** A run with points, console lines, attributes, values of ranks and forks. */
  readonly full: string;
  /** A table of that run. */
  readonly table: number;
  /** Runs of the first page. */
  readonly page: readonly string[];
  /** Where the second page begins. */
  readonly cursor: string;
  readonly artifacts: SeededArtifacts;
};
const tenants = new Map<string, Tenant>();

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

beforeAll(async () => {
  postgres = await startPostgres({
    dataDir: join(await directory, "postgres"),
    log: () => {},
    onServerLine: plans.take,
    // What autovacuum has gathered when the first request comes would be chance.
    settings: { ...planSettings, fsync: false, autovacuum: "off" },
  });
  const maintenance = await connect(postgres.url);
  await maintenance.query("CREATE DATABASE skewed");
  await maintenance.end();
  const url = new URL(postgres.url);
  url.pathname = "/skewed";
  const first = await startStack("embedded", { databaseUrl: url.href });
  const made = [];
  for (const [name, runs] of [
    ["a small organization", 30],
    ["a medium organization", 1000],
    ["the large organization", LARGE_RUNS],
    [WRITTEN, 1000],
  ] as const) {
    made.push({ name, runs, ...(await first.organization()) });
  }
  await first.stop();
  owner = await connect(url.href);
  await seedRuns(
    owner,
    [...otherOrganizations(1999, 8), ...made.map(({ orgId, runs }) => ({ orgId, first: 1, last: runs }))],
    { metrics: 4, vacuum: false },
  );
  // One in ten: ten artifacts for each would take a minute, and change no plan.
  const artifacts = await seedArtifacts(
    owner,
    made.map(({ orgId }) => orgId),
    { every: 10 },
  );
  await owner.query(seedReports, [made.map(({ orgId }) => orgId), made.map(({ runs }) => runs), REPORTS_PROJECT]);
  await owner.query(seedImports, [made.map(({ orgId }) => orgId), made.map(({ runs }) => runs)]);
  // As if all its runs had been written a moment ago, for as long as the test takes.
  await owner.query(
    `INSERT INTO ingest.unindexed_runs (org_id, run_id, touched_minute)
     SELECT r.org_id, r.id, 2147483647 FROM runs.runs r WHERE r.org_id = $1`,
    [made.find(({ name }) => name === WRITTEN)!.orgId],
  );
  await logPlans(owner);
  await owner.end();
  owner = await connect(url.href);
  stack = await startStack("embedded", { databaseUrl: url.href });
  for (const { name, key, orgId } of made) {
    tenants.set(name, { ...(await fillRuns(stack.api.as(key))), artifacts: artifacts.get(orgId)! });
  }
  await copyTraces(
    made.filter(({ runs }) => runs === LARGE_RUNS).map(({ orgId }) => orgId),
    LARGE_TRACES,
  );
  await sortKeysReady(tenants.get(WRITTEN)!);
});
afterAll(async () => {
  await stack?.stop();
  await owner?.end();
  await postgres?.stop();
  await rm(await directory, { recursive: true, force: true });
});

/** Traces of a run, each with a step; the oldest one failed. */
const TRACES = 300;
const TRACE_ID = "f".repeat(32);

function traceEvents(): object[] {
  return Array.from({ length: TRACES }, (_, i) => ({
    trace_id: i === 0 ? TRACE_ID : (i + 1).toString(16).padStart(32, "0"),
    span_id: "1".repeat(16),
    event_id: randomUUID(),
    sequence: 1,
    event_kind: "finished",
    name: i === 0 ? "the oldest" : "rollout",
    kind: i === 0 ? "tool" : "rollout",
    status: i === 0 ? "error" : "ok",
    started_at: new Date(Date.now() - (TRACES - i) * 60_000).toISOString(),
    step: i,
  }));
}

/** Makes so many copies of a trace of each organization, which start when the others do. */
async function copyTraces(orgIds: readonly string[], copies: number): Promise<void> {
  await owner.query(
    `INSERT INTO traces.traces (org_id, trace_id, run_id, project_id, version, segments, started_us, updated_us, status, kinds, min_step,
                                root_name, thread_id, rollout_id, summary)
     SELECT t.org_id, gen_random_uuid(), t.run_id, t.project_id, 1, 1, t.started_us + n, t.updated_us, t.status, t.kinds, t.min_step,
            t.root_name, t.thread_id, t.rollout_id, t.summary
     FROM traces.traces t, generate_series(1, $2::integer / ${TRACES - 1}) n
     WHERE t.org_id = ANY ($1::uuid[]) AND t.kinds = 1`,
    [orgIds, copies],
  );
}

const REPORTS_PROJECT = "0a1b2c3d-0000-4000-8000-000000000001";

const STEPS = 1500;
const FORKS = 60;
const OBJECTS = 60;

/** Adds a run with some of everything to an organization. */
async function fillRuns(api: Api): Promise<Omit<Tenant, "artifacts">> {
  const made = await api.post("/runs", { project: "rl-control", config: { lr: 1 } });
  const full = made.json.run.id as string;
  for (let from = 0; from < STEPS; from += 500) {
    const points = Array.from({ length: 500 }, (_, i) => ({
      step: from + i,
      metrics: { loss: 1 / (from + i + 1), lr: 0.1 },
    }));
    await api.post(`/runs/${full}/metrics/batch`, { points });
  }
  for (let from = 1; from < 200; from += 50) {
    const lines = Array.from({ length: 50 }, (_, i) => ({ line_number: from + i, message: `epoch ${from + i}` }));
    await api.post(`/api/runs/${full}/logs`, { lines });
  }
  for (let from = 0; from < 300; from += 100) {
    const attributes = Array.from({ length: 100 }, (_, i) => ({ path: `notes/${from + i}`, type: "config", value: i }));
    await api.post(`/api/runs/${full}/attributes`, { attributes });
  }
  const rows = Array.from({ length: 250 }, (_, i) => ({ i, text: `row ${i}` }));
  let table = 0;
  for (let step = 0; step < OBJECTS; step += 1) {
    const posted = await api.post(`/api/runs/${full}/objects`, { key: `eval/${step % 5}`, kind: "table", step, rows });
    table = posted.json.object.id as number;
  }
  const texts = Array.from({ length: 300 }, (_, i) => ({
    path: "console/stdout",
    type: "string_series",
    value: `line ${i}`,
  }));
  await api.post(`/api/runs/${full}/attributes`, { attributes: texts });
  for (let step = 0; step < 20; step += 1) {
    await api.post(`/runs/${full}/rank-metrics`, { metrics: { loss: step }, step, rank: step % 4, world_size: 4 });
  }
  await api.post(
    `/api/runs/${full}/traces/events`,
    { events: traceEvents() },
    { headers: { "idempotency-key": full } },
  );
  for (let fork = 0; fork < FORKS; fork += 1) await api.post(`/api/runs/${full}/forks`, {});
  const first = await api.get("/api/runs/summary?limit=10&project=rl-control");
  const page = (first.json.runs as { id: string }[]).map(({ id }) => id);
  return { api, full, table, page, cursor: first.json.next_cursor as string };
}

type Read = {
  readonly name: string;
  readonly method?: "POST";
  readonly path: (tenant: Tenant) => string;
  readonly body?: (tenant: Tenant) => unknown;
  /** How much the answer is about, in runs, points, or whatever it lists. */
  readonly items: (json: { total: number; runs: unknown[] } & Record<string, unknown[]>) => number;
  /** Rows that may be read for each item, and for the request. */
  readonly each?: number;
  readonly base?: number;
};

/** A run of a list: itself, its project, and the keys and aggregates of a page. */
const ROWS_OF_RUN = 12;
const BASE_ROWS = 80;
/** A row of a table is found through the pages of an index, and of the table. */
const PAGES_OF_ROW = 6;
const summary = (query: string): string => `/api/runs/summary?limit=25&${query}`;
const search = (q: string): string => `q=${encodeURIComponent(q)}`;
const list = (name: string, path: string, more: Partial<Read> = {}): Read => ({
  name,
  path: () => path,
  items: ({ runs }) => runs.length,
  ...more,
});
const sorts = ["name", "status", "duration", "metric-best&metric_key=eval/loss", "metric-latest&metric_key=train/loss"];
/** The newest runs that a search looks at before it turns to the index of words. */
const NEWEST = 1000;

/** Sorts by metrics until writes keep the values of these, as they do some seconds after the first time. */
async function sortKeysReady({ api }: Tenant): Promise<void> {
  const byMetric = [...sorts.filter((sort) => sort.startsWith("metric")), "metric-best&metric_key=nobody"];
  for (const sort of byMetric) await api.get(summary(`sort_by=${sort}`));
  await api.get("/api/overview");
  const ready = "SELECT count(*)::integer AS count FROM ingest.sort_keys WHERE ready";
  await until("the sort keys are ready", async () => {
    const { rows } = await owner.query<{ count: number }>(ready);
    return rows[0]!.count > byMetric.length ? true : undefined;
  });
}

const resolve = (what: string, refOf: (name: string) => string): Read => ({
  name: `a version by ${what}`,
  path: ({ artifacts }) => `/api/artifact-versions/resolve?ref=${encodeURIComponent(refOf(artifacts.name))}`,
  items: () => 1,
});
const versionPath = ({ artifacts }: Tenant): string => `/api/artifact-versions/${artifacts.versionId}`;

const artifactReads: readonly Read[] = [
  {
    name: "artifacts of a run",
    path: ({ artifacts }) => `/api/runs/${artifacts.runId}/artifacts?limit=1000`,
    items: (json) => json["artifacts"]!.length,
    each: 2,
  },
  resolve("its newest number", (name) => name),
  resolve("an alias", (name) => `${name}:best`),
  resolve("an index, with type", (name) => `model/${name}:v7`),
  { name: "a version", path: versionPath, items: () => 1 },
  // They are counted as well.
  {
    name: "the first entries of a manifest",
    path: (tenant) => `${versionPath(tenant)}/manifest?limit=50`,
    items: () => 1000,
    each: 2,
  },
  {
    name: "a whole manifest",
    path: (tenant) => `${versionPath(tenant)}/manifest?limit=1000`,
    items: (json) => json["entries"]!.length,
    each: 3,
  },
  { name: "the lineage of a version", path: (tenant) => `${versionPath(tenant)}/lineage`, items: () => 1 },
  {
    name: "versions of a collection",
    path: ({ artifacts }) => `/api/artifact-collections/${artifacts.versionId}/versions`,
    items: (json) => json["versions"]!.length,
  },
  {
    name: "collections",
    path: () => "/api/artifact-collections?limit=50",
    items: (json) => json["collections"]!.length,
  },
];

const traceList = (name: string, scope: string, query: string, more: Partial<Read> = {}): Read => ({
  name,
  path: ({ full }) => `/api/traces?${scope}=${scope === "project" ? "rl-control" : full}&limit=50&${query}`,
  items: ({ traces }) => traces!.length,
  ...more,
});

/** Three lines, which need points. */
const VIEW = { sections: [{ panels: ["loss", "lr", "eval/loss"].map((metricKey) => ({ metricKey })) }] };

/** Each run is looked up for each kind of rows. */
const exported = (what: string, query: Read["path"]): Read => ({
  name: `an export of ${what}`,
  path: (tenant) => `/api/export?${query(tenant)}`,
  items: (json) => Object.values(json).flatMap((rows) => (Array.isArray(rows) ? rows : [])).length,
  each: 20,
});

const reads: readonly Read[] = [
  ...artifactReads,
  // Its counters: of projects, of points in each of them, of bytes and events.
  { name: "what an organization uses", path: () => "/api/usage", items: () => 1, base: 300 },
  list("newest", "/runs?limit=50"),
  list("newest of a project", "/runs?limit=50&project=rl-control"),
  list("newest with total", summary("")),
  list("newest for choosing", summary("projection=selection&project=rl-control"), { each: 4 }),
  { ...list("second page", ""), path: ({ cursor }) => summary(`project=rl-control&cursor=${cursor}`) },
  list("far page", "/runs?limit=50&offset=500", { base: 600 }),
  ...sorts.flatMap((sort) => [
    list(`by ${sort}`, summary(`sort_by=${sort}`)),
    list(`by ${sort}, of a project`, summary(`sort_by=${sort}&project=rl-control`), { each: 40 }),
  ]),
  list("by a metric that nobody has", summary("sort_by=metric-best&metric_key=nobody"), { each: 14 }),
  list("failed ones", summary("status=failed"), { each: 40 }),
  list("running ones of a project", summary("status=running&project=rl-control"), {
    items: ({ total }) => Math.min(total, 2000),
  }),
  // Each running run is looked at, by its key.
  list("stale ones", summary("stale=true"), { items: ({ total }) => total, each: 8, base: 400 }),
  list("those that are not stale", summary("stale=false"), { items: ({ total }) => total, each: 8, base: 400 }),
  list("a rare tag", summary(search("tag:paper-fig3")), { items: ({ total, runs }) => total + runs.length }),
  list("a rare tag without total", `/runs?limit=25&${search("tag:paper-fig3")}`, { base: NEWEST + 500 }),
  list("a common tag without total", `/runs?limit=25&${search("tag:team-7")}`, { base: NEWEST + 500 }),
  list("a common word without total", `/runs?limit=25&${search("adamw")}`, { base: NEWEST + 500 }),
  list("a word that nobody has", `/runs?limit=25&${search("zzzznothing")}`, { base: NEWEST + 500 }),
  list("a common word", summary(search("adamw")), { items: ({ total, runs }) => total + runs.length }),
  list("a rare literal", summary(search("canyon-4711")), { base: 400 }),
  list("terms together", summary(search("tag:paper-fig3 AND -notes:reviewer AND (lion OR status:failed)")), {
    base: 400,
  }),
  list("a rare tag by metric", `${summary(search("tag:paper-fig3"))}&sort_by=metric-best&metric_key=eval/loss`, {
    items: ({ total, runs }) => total + runs.length,
  }),
  ...[
    String.raw`tag:paper-fig3 re:/"lr":0\.0+[13],/`,
    String.raw`re:/gpu-node-17\.cluster.*tokenizer/`,
    String.raw`notes:re:/ no 47\d\d$/`,
    "tag:re:/^paper-fig[0-9]$/",
  ].map((q) =>
    list(`the expression ${q}`, summary(search(q)), {
      items: ({ total, runs }) => total + runs.length,
      each: 50,
      base: 1000,
    }),
  ),
  { name: "overview", path: () => "/api/overview", items: () => 1 },
  { name: "overview of a project", path: () => "/api/overview?project=rl-control", items: () => 1 },
  { name: "projects", path: () => "/projects", items: ({ projects }) => projects!.length },
  { name: "a run", path: ({ page }) => `/runs/${page[0]}`, items: () => 1 },
  { name: "the readme of a run", path: ({ page }) => `/api/runs/${page[0]}/readme`, items: () => 1 },
  { name: "a run and its relatives", path: ({ full }) => `/api/runs/${full}/lineage`, items: () => FORKS, each: 14 },
  {
    name: "runs side by side",
    path: ({ page }) => `/api/runs/side-by-side?run_ids=${page.slice(0, 5).join(",")}`,
    items: () => 5,
    each: 20,
  },
  { name: "points", path: ({ full }) => `/runs/${full}/metrics?limit=1000`, items: () => 1, base: 120 },
  {
    name: "a series of many runs",
    method: "POST",
    path: () => "/api/metrics/series",
    body: ({ full, page }) => ({ key: "loss", run_ids: [full, ...page] }),
    items: () => 11,
  },
  ...columnReads,
  { name: "console lines", path: ({ full }) => `/api/runs/${full}/logs`, items: ({ lines }) => lines!.length, each: 1 },
  { name: "attributes", path: ({ full }) => `/api/runs/${full}/attributes?limit=50`, items: () => 50, each: 2 },
  ...["limit=20", "limit=20&kind=table", "limit=10&key=eval/1"].map((query): Read => ({
    name: `objects, ${query}`,
    path: ({ full }) => `/api/runs/${full}/objects?${query}`,
    items: ({ objects }) => objects!.length,
    each: 4,
  })),
  ...["limit=20", "limit=20&project=rl-control", "limit=20&kind=text", "limit=20&key=eval/1"].map((query): Read => ({
    name: `objects of many runs, ${query}`,
    path: () => `/api/objects/explorer?${query}`,
    // With a part of a key it looks at all the objects that there are.
    items: ({ objects }) => objects!.length + (query.includes("key") ? OBJECTS : 0),
    each: 7,
  })),
  { name: "rows of a table", path: ({ table }) => `/api/objects/${table}/rows`, items: () => 1, base: 20 },
  exported("named runs", ({ full, page, artifacts }) => `run_ids=${[full, artifacts.runId, ...page].join(",")}`),
  exported("a project", () => "project=rl-control"),
  {
    name: "the data of a view",
    method: "POST",
    path: () => "/api/workspace-view-data",
    body: ({ full, page }) => ({ view: VIEW, run_ids: [full, ...page] }),
    items: () => 11,
    each: 3 * ROWS_OF_RUN,
  },
  { name: "reports", path: () => "/api/reports", items: ({ reports }) => reports!.length, each: 2 },
  ...[REPORTS_PROJECT, "rl-control"].map((project): Read => ({
    name: `reports of the project ${project}`,
    path: () => `/api/reports?project=${project}`,
    items: ({ reports }) => reports!.length,
    each: 2,
  })),
  {
    name: "panels of reports",
    path: () => "/api/reports/panels?limit=100",
    items: ({ panels }) => panels!.length,
    each: 5,
  },
  { name: "imports", path: () => "/api/imports", items: ({ imports }) => imports!.length, each: 7 },
  { name: "an import", path: () => "/api/imports/jobs/1", items: () => 1 },
  { name: "values of ranks", path: ({ full }) => `/api/runs/${full}/rank-metrics/summary?key=loss`, items: () => 20 },
  ...["run_id", "project"].flatMap((scope) => [
    traceList(`traces of a ${scope}`, scope, ""),
    traceList(`running traces of a ${scope}`, scope, "status=running"),
    // A minute has a row, and one of a large organization 300 traces, of which the oldest is the one that is wanted.
    traceList(`failed traces of a ${scope}`, scope, "status=error", { base: 1200 }),
    traceList(`traces of a ${scope} with a rare kind`, scope, "kind=tool", { base: 1200 }),
    traceList(`traces of a ${scope} with a rare word`, scope, "q=oldest", { base: NEWEST + 500 }),
    traceList(`traces of a ${scope} by the beginning of an id`, scope, "q=ffffffffffffffff", { base: NEWEST + 500 }),
  ]),
  { name: "a trace", path: ({ full }) => `/api/runs/${full}/traces/${TRACE_ID}`, items: () => 1 },
  { name: "spans", path: ({ full }) => `/api/runs/${full}/traces/${TRACE_ID}/spans`, items: () => 1 },
];

async function request({ api, ...tenant }: Tenant, { method, path, body }: Read) {
  const answer = await api.call(
    method ?? "GET",
    path({ api, ...tenant }),
    body === undefined ? {} : { body: body({ api, ...tenant }) },
  );
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.json;
}

/** Workers may read meanwhile. What they read every few seconds is not in all of several measurements. */
const MEASUREMENTS = 3;

async function readsOf(tenant: Tenant, read: Read) {
  for (let i = 0; i < REQUESTS_BEFORE; i += 1) await request(tenant, read);
  const measured = [];
  for (let i = 0; i < MEASUREMENTS; i += 1) {
    let items = 0;
    const executed = await plans.during(async () => {
      items = read.items(await request(tenant, read));
    });
    const rows = executed.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
    const pages = executed.reduce((sum, statement) => sum + statement.pages, 0);
    const rowsMax = (read.base ?? BASE_ROWS) + (read.each ?? ROWS_OF_RUN) * items;
    measured.push({ executed, rows, pages, rowsMax, pagesMax: PAGES_OF_ROW * rowsMax });
  }
  return measured.toSorted((a, b) => a.pages - b.pages)[0]!;
}

/** What a plan that reads too much does. */
const shown = ({ text, plan, pages }: Executed) => ({
  text: text.trim().slice(0, 200),
  pages,
  reads: describeReads(plan),
});

const TABLES =
  "SELECT oid::regclass AS name FROM pg_class WHERE relkind = 'r' AND relnamespace IN ('runs'::regnamespace, 'ingest'::regnamespace, 'artifacts'::regnamespace, 'traces'::regnamespace, 'reports'::regnamespace)";

async function forEachTable(statement: (name: string) => string): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(TABLES);
  for (const { name } of rows) await owner.query(statement(name));
}

const states: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["before any statistics", async () => {}],
  ["with all statistics", () => owner.query("ANALYZE")],
  [
    "after the statistics are gone",
    async () => {
      await owner.query(`DELETE FROM pg_statistic WHERE starelid IN (SELECT name FROM (${TABLES}) t)`);
      // Makes connections plan again.
      await forEachTable((name) => `ALTER TABLE ${name} SET (autovacuum_enabled = false)`);
    },
  ],
];

describe.each(states)("%s", (_state, enter) => {
  beforeAll(async () => {
    await enter();
  });

  describe.each(["a small organization", "a medium organization", "the large organization", WRITTEN])(
    "%s reads few rows for",
    (name) => {
      test.each(reads)("$name", async (read) => {
        const { executed, rows, pages, rowsMax, pagesMax } = await readsOf(tenants.get(name)!, read);
        const tooMuch = rows > rowsMax || pages > pagesMax;
        expect({ rows, rowsMax, pages, pagesMax, read: tooMuch ? executed.map(shown) : [] }).toMatchObject({
          read: [],
        });
      });
    },
  );
});
