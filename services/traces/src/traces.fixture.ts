import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createDb, type Db } from "@tidemark/pg";
import { createRunDirectory, openGate, type PlanGate } from "@tidemark/requests";
import { CallerKind, type IdentitySchema, IdentitySchema as identity } from "@tidemark/proto/common/v1/common";
import {
  EventKind,
  SpanKind,
  SpanStatus,
  TracesService,
  type TraceEventSchema,
} from "@tidemark/proto/traces/v1/traces";
import { createCall, createLocalClient, implement, type Call, type Client } from "@tidemark/rpc";
import { createTestDatabase, testSql } from "@tidemark/testkit";
import { startCompactor, type Compactor } from "./compact/compactor.ts";
import { tracesHandlers } from "./handlers.ts";
import { findRunRefs } from "./runs/runs.sql.ts";
import { createTraceStates } from "./state/trace-states.ts";

/** The service as a client sees it. */
export type TracesClient = Client<(typeof TracesService)["method"]>;

/** An organization with a project and a run. */
export type Tenant = { readonly orgId: string; readonly projectId: string; readonly runId: string };

/** The service on its own database. */
export type TracesFixture = {
  readonly client: TracesClient;
  /** Another process of the service, with nothing in its memory, which holds this many bytes. */
  newProcess(cacheBytes?: number, over?: Db, eventGate?: PlanGate, storageGate?: PlanGate): TracesClient;
  /** A compactor that works only when a round is requested. */
  compactor(): Compactor;
  readonly db: Db;
  readonly workerDb: Db;
  newTenant(): Promise<Tenant>;
  newRun(tenant: Pick<Tenant, "orgId" | "projectId">): Promise<string>;
  /** Makes every trace look quiet for an hour, and its work due. */
  quiet(tenant: Tenant): Promise<void>;
  /** Runs one statement as the owner. */
  ask<Row>(statement: string, ...values: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

const schema = (service: string) => ({
  schema: service,
  directory: join(import.meta.dirname, "..", "..", service, "src", "store"),
});

const CACHE_BYTES = 64 * 1024 * 1024;
const QUIET_SECONDS = 60;

/** Starts the service's handlers on a new database with the schemas `runs` and `traces`. */
export async function startTraces(): Promise<TracesFixture> {
  const database = await createTestDatabase([schema("runs"), schema("traces")]);
  const { url } = database;
  const open = (role: string) => createDb({ url, role, application: "traces-test", connectionsMax: 12 });
  const db = open("tidemark_traces");
  const workerDb = open("tidemark_traces_worker");
  const owner = open(new URL(url).username);
  const compactors: Compactor[] = [];
  const newProcess: TracesFixture["newProcess"] = (
    cacheBytes = CACHE_BYTES,
    over = db,
    eventGate = openGate,
    storageGate = openGate,
  ) =>
    createLocalClient(
      TracesService,
      implement(
        TracesService,
        tracesHandlers({
          db: over,
          runs: createRunDirectory((orgId, ids) => over.withTenant(orgId, (tx) => findRunRefs(tx, orgId, ids)), 1000),
          states: createTraceStates(cacheBytes),
          quietSeconds: QUIET_SECONDS,
          now: () => new Date(),
          eventGate,
          storageGate,
        }),
      ),
    );
  const ask: TracesFixture["ask"] = (statement, ...values) => owner.rows(testSql(statement), values);
  const newRun: TracesFixture["newRun"] = async ({ orgId, projectId }) => {
    const id = randomUUID();
    await ask(
      `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at)
       VALUES ($1, $2, $3, 'a run', 'running', '{}', '{}', '{}', now(), now())`,
      orgId,
      id,
      projectId,
    );
    return id;
  };
  return {
    client: newProcess(),
    newProcess,
    compactor() {
      const compactor = startCompactor({
        db,
        workerDb,
        quietSeconds: QUIET_SECONDS,
        metrics: { compactionVisit: () => {} },
        log: {
          warn: (text, { error } = {}) => {
            throw new Error(text, { cause: error });
          },
        },
        tickMs: 1_000_000,
      });
      compactors.push(compactor);
      return compactor;
    },
    db,
    workerDb,
    newRun,
    ask,
    newTenant: async () => {
      const [orgId, projectId] = [randomUUID(), randomUUID()];
      await ask("INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2, 'a project')", orgId, projectId);
      return { orgId, projectId, runId: await newRun({ orgId, projectId }) };
    },
    quiet: async ({ orgId }) => {
      await ask("UPDATE traces.traces SET updated_us = updated_us - 3600000000 WHERE org_id = $1", orgId);
      await ask("UPDATE traces.compaction_work SET due_at = now() WHERE org_id = $1", orgId);
    },
    close: async () => {
      await Promise.all(compactors.map((compactor) => compactor.stop()));
      await Promise.all([db.close(), workerDb.close(), owner.close()]);
      await database.drop();
    },
  };
}

/** Returns a call of an API key of the organization, bound to a project or not. */
export function callOf({ orgId }: Pick<Tenant, "orgId">, changes: MessageInitShape<typeof IdentitySchema> = {}): Call {
  return createCall({
    timeoutMs: 600_000,
    identity: create(identity, {
      kind: CallerKind.API_KEY,
      scopes: ["sdk:ingest", "export:read"],
      planTier: "free",
      billingState: "free_active",
      ...changes,
      orgId,
    }),
  });
}

/** Returns a new id of a trace. */
export const newTraceId = (): string => randomBytes(16).toString("hex");

/** Returns the id of a span by a number. */
export const spanId = (number: number): string => (number + 1).toString(16).padStart(16, "0");

/** A moment of the tests, in microseconds. */
export const NOON_US = Date.parse("2026-11-20T12:00:00Z") * 1000;

/** Returns an event: a finished span of a second, with changes. */
export function eventOf(
  event: { readonly traceId: string } & MessageInitShape<typeof TraceEventSchema>,
): MessageInitShape<typeof TraceEventSchema> {
  return {
    spanId: spanId(0),
    eventId: randomUUID(),
    sequence: 1,
    eventKind: EventKind.FINISHED,
    name: "work",
    kind: SpanKind.CUSTOM,
    status: SpanStatus.OK,
    startedUs: NOON_US,
    ...event,
  };
}

/** Encodes a document as messages carry it. */
export const json = (value: unknown): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(value));

/** Decodes a document of a message. */
export const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
