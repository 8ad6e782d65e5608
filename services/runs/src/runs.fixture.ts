import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { NotedChange } from "@tidemark/bus";
import { createDb, type Db } from "@tidemark/pg";
import { openGate, type PlanGate } from "@tidemark/requests";
import { hostedPlans } from "@tidemark/limits";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { RunsService } from "@tidemark/proto/runs/v1/runs";
import { createCall, createLocalClient, implement, type Call, type Client } from "@tidemark/rpc";
import { createLog } from "@tidemark/telemetry";
import { createTestDatabase, testSql, type TestDatabase } from "@tidemark/testkit";
import { runsHandlers } from "./handlers.ts";
import { runsMigrations } from "./module.ts";
import { createDeletionPropagator, type DeletionPropagator } from "./deletion/deletion-propagator.ts";
import { createRunCopier, type RunCopier } from "./copy/run-copier.ts";
import { createRunFollower, type RunFollower } from "./move/run-follower.ts";
import { createKeyCatalogue } from "./keys/key-catalogue.ts";
import { createStaleness } from "./life/staleness.rules.ts";
import { createSortKeyAsks } from "./columns/sorted-columns.ts";
import { createSearchThreads } from "./regex-search/search-threads.ts";

/** Metrics and attributes, which the runs service shows and compares. */
const ingestMigrations = {
  schema: "ingest",
  directory: join(import.meta.dirname, "../../ingest/src/store"),
};

/** The audit log, which the runs service writes to. */
const controlMigrations = {
  schema: "control",
  directory: join(import.meta.dirname, "../../control/src/store"),
};

/** Artifacts, which the runs service counts and shows. */
const artifactsMigrations = {
  schema: "artifacts",
  directory: join(import.meta.dirname, "../../artifacts/src/store"),
};

/** Traces and what imports know, which follow moved runs. */
const tracesMigrations = { schema: "traces", directory: join(import.meta.dirname, "../../traces/src/store") };
const importsMigrations = { schema: "imports", directory: join(import.meta.dirname, "../../imports-export/src/store") };

export type RunsClient = Client<(typeof RunsService)["method"]>;

/** Milliseconds without a sign of life after which runs of the fixture are stale. */
export const STALE_MS = 600_000;

/** Days during which deleted projects and runs can be restored in the fixture. */
export const GRACE_DAYS = 30;

/** The service on its own database. */
export type RunsFixture = {
  readonly client: RunsClient;
  /** With plan limits enforced. */
  readonly limited: RunsClient;
  /** With a storage gate, and perhaps one of points and of trace events. */
  within(storageGate: PlanGate, others?: { readonly pointGate?: PlanGate; readonly eventGate?: PlanGate }): RunsClient;
  /** As the service's role, under row level security. */
  readonly db: Db;
  /** As the owner of the database, above row level security. */
  readonly owner: Db;
  readonly url: string;
  /** Makes the runs of projects follow them. */
  readonly deletionPropagator: DeletionPropagator;
  /** Makes what other services keep of moved runs follow them; it looks at them no longer than it has to. */
  readonly runFollower: RunFollower;
  /** Makes copies of runs. */
  readonly runCopier: RunCopier;
  /** How far ahead the clock that decides which runs are stale is, in milliseconds. */
  readonly clock: { aheadMs: number };
  /** The changes that the service noted, in order. */
  readonly noted: NotedChange[];
  close(): Promise<void>;
};

/** Starts the service on the given database or on a new one; `close` drops it either way. */
export async function startRuns(given?: TestDatabase): Promise<RunsFixture> {
  const database =
    given ??
    (await createTestDatabase([
      runsMigrations,
      ingestMigrations,
      artifactsMigrations,
      controlMigrations,
      tracesMigrations,
      importsMigrations,
    ]));
  const { url } = database;
  const open = (role: string) => createDb({ url, role, application: "runs-test", connectionsMax: 12 });
  const db = open("tidemark_runs");
  const owner = open(new URL(url).username);
  const searchThreads = createSearchThreads({
    connection: { url, role: "tidemark_runs", application: "runs-test-search" },
    threads: 1,
  });
  const sortKeys = createSortKeyAsks(db, (error) => {
    throw error;
  });
  const keyCatalogue = createKeyCatalogue({
    db,
    nowMs: Date.now,
    onFailed: (error) => {
      throw error;
    },
  });
  const clock = { aheadMs: 0 };
  const noted: NotedChange[] = [];
  const staleness = createStaleness({ staleMs: STALE_MS, nowMs: () => Date.now() + clock.aheadMs });
  const deletionPropagator = createDeletionPropagator({
    db,
    log: createLog({ level: "silent", service: "runs-test" }),
  });
  const runFollower = createRunFollower({
    db,
    log: createLog({ level: "silent", service: "runs-test" }),
    watchedSeconds: 0,
  });
  const runCopier = createRunCopier({
    db,
    workerDb: open("tidemark_runs_worker"),
    log: createLog({ level: "silent", service: "runs-test" }),
    noteChange: (change) => void noted.push(change),
  });
  const clientWith = (limitsOn: boolean, storageGate = openGate, { pointGate = openGate, eventGate = openGate } = {}) =>
    createLocalClient(
      RunsService,
      implement(
        RunsService,
        runsHandlers({
          db,
          searchThreads,
          plans: limitsOn ? hostedPlans : undefined,
          storageGate,
          pointGate,
          eventGate,
          newId: randomUUID,
          sortKeys,
          keyCatalogue,
          // Tests keep columns when they want to.
          columnKeeper: { ask: () => {} },
          noteChange: (change) => void noted.push(change),
          staleness,
          deletionPropagator,
          runFollower,
          runCopier,
          graceDays: GRACE_DAYS,
        }),
      ),
    );
  return {
    client: clientWith(false),
    limited: clientWith(true),
    within: (storageGate, others) => clientWith(false, storageGate, others),
    db,
    owner,
    url,
    deletionPropagator,
    runFollower,
    runCopier,
    clock,
    noted,
    close: async () => {
      await deletionPropagator.stop();
      await runFollower.stop();
      await Promise.all([db.close(), owner.close(), searchThreads.close()]);
      await database.drop();
    },
  };
}

/** Returns the call of an API key; it belongs to a new organization unless one is named. */
export function callAs(identity: MessageInitShape<typeof IdentitySchema> = {}): Call & { readonly orgId: string } {
  const orgId = identity.orgId ?? randomUUID();
  const full = create(IdentitySchema, {
    kind: CallerKind.API_KEY,
    scopes: ["sdk:ingest", "export:read"],
    planTier: "free",
    billingState: "free_active",
    ...identity,
    orgId,
  });
  // One call may serve a whole file of tests.
  return { ...createCall({ identity: full, timeoutMs: 600_000 }), orgId };
}

/** Encodes a document as messages carry it. */
export const json = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Decodes a document of a message. */
export const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** Creates a run through the service and returns it. */
export async function makeRun(
  client: RunsClient,
  call: Call,
  request: Parameters<RunsClient["createRun"]>[0] = {},
): Promise<NonNullable<Awaited<ReturnType<RunsClient["createRun"]>>["run"]>> {
  const { run } = await client.createRun(request, call);
  if (run === undefined) throw new Error("the answer has no run");
  return run;
}

/** Runs one statement as the owner, above row level security. */
export function asOwner<Row>(fixture: RunsFixture, statement: string, values: readonly unknown[] = []): Promise<Row[]> {
  return fixture.owner.rows<Row>(testSql(statement), values);
}

/** Returns the error that a call fails with. */
export async function failure(
  promise: Promise<unknown>,
): Promise<{ reason: string; field: string | undefined; message: string }> {
  try {
    await promise;
  } catch (error) {
    return error as { reason: string; field: string | undefined; message: string };
  }
  throw new Error("the call did not fail");
}
