import { rm } from "node:fs/promises";
import { startPostgres } from "@tidemark/local";
import { isDeep, makePostgresFolder, postgresMajor, until } from "@tidemark/testkit";
import pg from "pg";
import { otherOrganizations, seedRuns } from "../bench/seed/seed-runs.ts";
import { startStack } from "../stack/stack.ts";
import { createPlanLog, logPlans, planSettings, type PlanLog } from "./executed-plans.ts";
import { fillRuns } from "./fill-runs.ts";
import { REPORTS_PROJECT, type Tenant } from "./read.ts";
import { summary, sorts } from "./run-reads.ts";
import { seedArtifacts } from "./seed-artifacts.ts";
import { copyTraces, seedImports, seedReports } from "./seed-rows.ts";

/** Many times what any read may look at, so that a plan that reads an organization whole is seen. */
const LARGE_RUNS = isDeep ? 20_000 : 8000;
/** Traces of a run of that organization. */
const LARGE_TRACES = LARGE_RUNS;
const OTHERS = { small: isDeep ? 500 : 250, medium: 3 };

const SMALL = "a small organization";
const LARGE = "the large organization";
const WRITTEN = "an organization whose runs are all being written";
const sizes = [
  [SMALL, 30],
  ["a medium organization", 1000],
  [LARGE, LARGE_RUNS],
  [WRITTEN, 1000],
] as const;

/** The organizations that are measured: in a run that is not deep the two for which a plan of the average organization is worst. */
export const tenantNames = isDeep ? sizes.map(([name]) => name) : [LARGE, WRITTEN];

/** A database in which organizations of very different sizes share the tables, with a server over it. */
export type SkewedDatabase = {
  readonly tenants: ReadonlyMap<string, Tenant>;
  readonly owner: pg.Client;
  readonly plans: PlanLog;
  readonly stop: () => Promise<void>;
};

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Fills a database and starts a server over it. */
export async function openSkewedDatabase(): Promise<SkewedDatabase> {
  const directory = await makePostgresFolder();
  let owner: pg.Client | undefined;
  const plans = createPlanLog(() => owner!);
  const postgres = await startPostgres({
    dataDir: directory,
    newMajor: postgresMajor,
    log: () => {},
    onServerLine: plans.take,
    // What autovacuum has gathered when the first request arrives would be chance.
    settings: { ...planSettings, fsync: false, autovacuum: "off" },
  });
  const maintenance = await connect(postgres.url);
  await maintenance.query("CREATE DATABASE skewed");
  await maintenance.end();
  const url = new URL(postgres.url);
  url.pathname = "/skewed";
  const first = await startStack("embedded", { databaseUrl: url.href });
  const made = [];
  for (const [name, runs] of sizes) made.push({ name, runs, ...(await first.organization()) });
  await first.stop();
  owner = await connect(url.href);
  const orgIds = made.map(({ orgId }) => orgId);
  await seedRuns(
    owner,
    [
      ...otherOrganizations(OTHERS.small, OTHERS.medium),
      ...made.map(({ orgId, runs }) => ({ orgId, first: 1, last: runs })),
    ],
    { metrics: 4, vacuum: false },
  );
  // One in ten: ten artifacts for each would take a minute, and change no plan.
  const artifacts = await seedArtifacts(owner, orgIds, { every: 10 });
  await owner.query(seedReports, [orgIds, made.map(({ runs }) => runs), REPORTS_PROJECT]);
  await owner.query(seedImports, [orgIds, made.map(({ runs }) => runs)]);
  // As if all its runs had been written a moment ago, for as long as the test takes.
  await owner.query(
    `INSERT INTO ingest.unindexed_runs (org_id, run_id, touched_minute)
     SELECT r.org_id, r.id, 2147483647 FROM runs.runs r WHERE r.org_id = $1`,
    [made.find(({ name }) => name === WRITTEN)!.orgId],
  );
  await logPlans(owner);
  await owner.end();
  owner = await connect(url.href);
  const stack = await startStack("embedded", { databaseUrl: url.href });
  const tenants = new Map<string, Tenant>();
  for (const { name, key, orgId } of made.filter((one) => tenantNames.includes(one.name))) {
    tenants.set(name, { ...(await fillRuns(stack.api.as(key))), artifacts: artifacts.get(orgId)! });
  }
  await copyTraces(
    owner,
    made.filter(({ name }) => name === LARGE).map(({ orgId }) => orgId),
    LARGE_TRACES,
  );
  await keptValuesReady(owner, tenants);
  return {
    tenants,
    owner,
    plans,
    stop: async () => {
      await stack.stop();
      await owner?.end();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Sorts by metrics and by a column until writes keep the values of these, as they do some seconds after the first time. */
async function keptValuesReady(owner: pg.Client, tenants: ReadonlyMap<string, Tenant>): Promise<void> {
  const { api } = tenants.get(WRITTEN)!;
  const byMetric = [...sorts.filter((sort) => sort.startsWith("metric")), "metric-best&metric_key=nobody"];
  for (const sort of byMetric) await api.get(summary(`sort_by=${sort}`));
  await api.get("/api/overview");
  const large = [...tenants].filter(([name]) => name !== SMALL);
  for (const [, tenant] of large) await tenant.api.get(summary("sort_by=config.lr"));
  const count = async (what: string): Promise<number> => {
    const { rows } = await owner.query<{ count: number }>(`SELECT count(*)::integer AS count FROM ${what} WHERE ready`);
    return rows[0]!.count;
  };
  await until("the sort keys are ready", async () =>
    (await count("ingest.sort_keys")) > byMetric.length ? true : undefined,
  );
  await until("the kept columns are ready", async () =>
    (await count("runs.kept_columns")) >= large.length ? true : undefined,
  );
}
