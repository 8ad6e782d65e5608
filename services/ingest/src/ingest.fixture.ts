import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { createColumnsBuilder } from "@tidemark/codecs/metrics";
import { createRunDirectory, openGate, type PlanGate } from "@tidemark/requests";
import { createDb, type Db } from "@tidemark/pg";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { IngestArchiveService } from "@tidemark/proto/ingest/v1/archive";
import {
  IngestReadService,
  IngestService,
  type PointColumns,
  type MetricColumns,
} from "@tidemark/proto/ingest/v1/ingest";
import { IngestRestoreService } from "@tidemark/proto/ingest/v1/restore";
import { createCall, createLocalClient, implement, toRefusal, type Call, type Client } from "@tidemark/rpc";
import type { LogFields, Metrics } from "@tidemark/telemetry";
import { createTestDatabase, testSql } from "@tidemark/testkit";
import type { DirtyMarkers } from "./compaction/dirty-markers.rules.ts";
import { startCompaction, type Compaction } from "./compaction/work-loop.ts";
import { archiveHandlers, readHandlers, restoreHandlers, writeHandlers } from "./handlers.ts";
import { logCompaction } from "./logs/compact-log-lines.ts";
import type { LevelRules } from "./logs/log-levels.rules.ts";
import type { RunsOfCharts } from "./metrics/columns/query-series-columns.ts";
import { createSeriesThreads } from "./metrics/columns/series-threads.ts";
import { metricCompaction } from "./metrics/compact/compact-metrics.ts";
import type { KeyRangeRules } from "./metrics/compact/key-ranges.rules.ts";
import { createMetricWriter, type MetricWriterOptions } from "./metrics/write/metric-writer.ts";
import type { FindRunsOfSearch } from "./objects/explore-objects.ts";
import { rankCompaction } from "./rank-metrics/compact-rank-metrics.ts";
import type { RankCompactionBounds } from "./rank-metrics/rank-writes.sql.ts";
import { createRankLayouts } from "./rank-metrics/rank-reports.rules.ts";
import { createIdSource, type IdSource } from "./writes/writes.rules.ts";
import { findRunRefs } from "./runs/run-refs.sql.ts";

/** The schema of the service, and the schemas whose views it reads. */
const schemas = ["runs", "ingest", "artifacts"].map((schema) => ({
  schema,
  directory: join(import.meta.dirname, "../..", schema, "src/store"),
}));

/** An organization with one project, to which a caller belongs. */
export type Tenant = { readonly orgId: string; readonly projectId: string };

/** Test settings for how metrics are written. */
export type MetricWriting = Partial<
  Pick<MetricWriterOptions, "db" | "markers" | "cacheBytes" | "queueBytes" | "random" | "metrics">
>;

/** The service on its own database. */
export type IngestFixture = {
  /** The pool of the service's role: subject to row level security. */
  readonly db: Db;
  /** The pool of the database's owner, who sees the rows of all organizations. */
  readonly owner: Db;
  readonly write: Client<(typeof IngestService)["method"]>;
  readonly read: Client<(typeof IngestReadService)["method"]>;
  readonly archive: Client<(typeof IngestArchiveService)["method"]>;
  /** Creates a process for restores, with nothing in memory. */
  restorer(): Client<(typeof IngestRestoreService)["method"]>;
  /** Creates another process of the same service, with nothing in memory; `ids` replaces its source of ids. */
  writer(
    ids?: IdSource,
    writing?: MetricWriting & {
      readonly rankMarkers?: DirtyMarkers;
      readonly pointGate?: PlanGate;
      readonly storageGate?: PlanGate;
      readonly noteChange?: MetricWriterOptions["noteChange"];
    },
  ): Client<(typeof IngestService)["method"]>;
  /** Creates a compactor that works only when a round is called, and takes all landing segments. */
  compactor(rules?: LevelRules, metricRules?: KeyRangeRules): Compaction;
  /** Creates a compactor of rank metrics with these bounds. */
  rankCompactor(bounds: RankCompactionBounds, metrics?: Pick<Metrics, "compactionVisit">): Compaction;
  /** Returns a pool of another role. */
  poolOf(role: string): Db;
  newTenant(): Promise<Tenant>;
  newProject(orgId: string): Promise<string>;
  newRun(tenant: Tenant, projectId?: string): Promise<string>;
  finishRun(runId: string): Promise<void>;
  close(): Promise<void>;
};

const insertProject = testSql("INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2::uuid, $2::text)");
const insertRun =
  testSql(`INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at)
   VALUES ($1, $2, $3, 'run', 'running', '{}', '{}', '{}', now(), now())`);
const finish = testSql("UPDATE runs.runs SET status = 'finished', finished_at = now() WHERE id = $1");

/** Every write asks for immediate compaction. */
const eagerMarkers: DirtyMarkers = { next: () => 0, forget: () => {} };

const noMetrics = { compactionVisit: () => {}, compactionBacklog: () => {} };
const failTest = (text: string, fields?: LogFields): void => {
  throw new Error(text, { cause: fields?.error });
};

/** Starts the service's handlers on a new database with the schemas `runs`, `ingest` and `artifacts`. */
export async function startIngest(
  options: { searchRuns?: FindRunsOfSearch; runsOfCharts?: Partial<RunsOfCharts> } = {},
): Promise<IngestFixture> {
  const database = await createTestDatabase(schemas);
  const pools: Db[] = [];
  const poolOf = (role: string): Db => {
    const pool = createDb({ url: database.url, role, application: "ingest-test", connectionsMax: 10 });
    pools.push(pool);
    return pool;
  };
  const db = poolOf("tidemark_ingest");
  const owner = poolOf("postgres");
  const depsOf = (
    ...[ids = createIdSource(Date.now, Math.random), writing = {}]: Parameters<IngestFixture["writer"]>
  ) => {
    const { rankMarkers = eagerMarkers, pointGate = openGate, storageGate = openGate, ...others } = writing;
    const { noteChange = () => {}, ...metricWriting } = others;
    const metricWriter = createMetricWriter({
      db,
      markers: eagerMarkers,
      random: Math.random,
      cacheBytes: 2 ** 20,
      queueBytes: 2 ** 26,
      metrics: { metricGroup: () => {}, metricsRefused: () => {} },
      noteChange,
      ...metricWriting,
    });
    return {
      db,
      runs: createRunDirectory((orgId, ids) => db.withTenant(orgId, (tx) => findRunRefs(tx, orgId, ids)), 1000),
      ids,
      logMarkers: eagerMarkers,
      metricWriter,
      rankLayouts: createRankLayouts(),
      rankMarkers,
      pointGate,
      storageGate,
      noteChange,
      refusalOf: toRefusal,
      log: { error: failTest },
    };
  };
  const writer: IngestFixture["writer"] = (...how) =>
    createLocalClient(IngestService, implement(IngestService, writeHandlers(depsOf(...how))));
  const seriesThreads = createSeriesThreads(1);
  const readDeps = {
    db,
    seriesThreads,
    runsOfCharts: {
      listRunOrigins: () => Promise.reject(new Error("unexpected call of listRunOrigins")),
      groupRuns: () => Promise.reject(new Error("unexpected call of groupRuns")),
      ...options.runsOfCharts,
    },
    searchRuns: options.searchRuns ?? (() => Promise.reject(new Error("unexpected call of searchRuns"))),
    runs: createRunDirectory((orgId, ids) => db.withTenant(orgId, (tx) => findRunRefs(tx, orgId, ids)), 1000),
  };
  const newProject = async (orgId: string): Promise<string> => {
    const projectId = randomUUID();
    await owner.rows(insertProject, [orgId, projectId]);
    return projectId;
  };
  return {
    db,
    owner,
    write: writer(),
    read: createLocalClient(IngestReadService, implement(IngestReadService, readHandlers(readDeps))),
    archive: createLocalClient(IngestArchiveService, implement(IngestArchiveService, archiveHandlers(readDeps))),
    writer,
    restorer: () => createLocalClient(IngestRestoreService, implement(IngestRestoreService, restoreHandlers(depsOf()))),
    compactor: (rules, metricRules) => {
      const workerDb = poolOf("tidemark_ingest_worker");
      const kinds = [
        logCompaction(workerDb, { restSeconds: 0, patienceSeconds: 0 }, rules),
        metricCompaction(workerDb, { patienceSeconds: 0 }, metricRules),
      ];
      return startCompaction({ db: workerDb, kinds, metrics: noMetrics, log: { warn: failTest }, tickMs: 3_600_000 });
    },
    rankCompactor: (bounds, { compactionVisit } = noMetrics) => {
      const workerDb = poolOf("tidemark_ingest_worker");
      const kinds = [rankCompaction(workerDb, { patienceSeconds: 0 }, bounds)];
      const metrics = { ...noMetrics, compactionVisit };
      return startCompaction({ db: workerDb, kinds, metrics, log: { warn: failTest }, tickMs: 3_600_000 });
    },
    poolOf,
    newTenant: async () => {
      const orgId = randomUUID();
      return { orgId, projectId: await newProject(orgId) };
    },
    newProject,
    newRun: async (tenant, projectId = tenant.projectId) => {
      const runId = randomUUID();
      await owner.rows(insertRun, [tenant.orgId, runId, projectId]);
      return runId;
    },
    finishRun: async (runId) => {
      await owner.rows(finish, [runId]);
    },
    close: async () => {
      await seriesThreads.close();
      await Promise.all(pools.map((pool) => pool.close()));
      await database.drop();
    },
  };
}

/** Returns a call of an API key of the organization, bound to a project or not. */
export function callOf(tenant: Tenant, onlyProject = ""): Call {
  return createCall({
    requestId: "test",
    identity: create(IdentitySchema, {
      orgId: tenant.orgId,
      projectId: onlyProject,
      kind: CallerKind.API_KEY,
      scopes: ["sdk:ingest", "export:read"],
    }),
  });
}

/** A metric point as tests write it. */
export type TestPoint = readonly [step: number, metrics: Readonly<Record<string, number>>, timestampUs?: number];

/** Returns points in the form of the message. */
export function columnsOf(...points: readonly TestPoint[]): MetricColumns {
  const builder = createColumnsBuilder({ readOther: (value) => value as number });
  for (const [step, metrics, timestampUs] of points) builder.addPoint(metrics, step, timestampUs ?? null);
  return builder.build() as unknown as MetricColumns;
}

/** Returns columns as pairs of step and value. */
export function pairsOf(points: PointColumns | undefined): [step: number, value: number][] {
  return Array.from(points!.steps, (step, i) => [step, points!.values[i]!]);
}
