import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { isMinimiseKey } from "@tidemark/metric-codec";
import { createDb, sql, type Db } from "@tidemark/pg";
import { hostedPlans } from "@tidemark/plans";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { RunsService } from "@tidemark/proto/runs/v1/runs";
import { createCall, createLocalClient, implement, type Call, type Client } from "@tidemark/rpc";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { runsHandlers } from "../src/handlers/index.ts";
import { runsMigrations } from "../src/module.ts";
import { createSearchThreads } from "../src/regex-search/search-threads.ts";
import { insertHeads } from "./metric-heads.ts";

/** The metric heads that lists and reads show. */
export const ingestMigrations = {
  schema: "ingest",
  directory: join(import.meta.dirname, "../../ingest/src/store/migrations"),
};

export type RunsClient = Client<(typeof RunsService)["method"]>;

/** The service on a database of its own. */
export type RunsFixture = {
  readonly client: RunsClient;
  /** With plan limits enforced. */
  readonly limited: RunsClient;
  /** As the service's role, under row level security. */
  readonly db: Db;
  /** As the owner of the database, above row level security. */
  readonly owner: Db;
  readonly url: string;
  close(): Promise<void>;
};

/** Starts the service, on the given database or on one that is made for it; either is dropped in the end. */
export async function startRuns(given?: TestDatabase): Promise<RunsFixture> {
  const database = given ?? (await createTestDatabase([runsMigrations, ingestMigrations]));
  const { url } = database;
  const open = (role: string) => createDb({ url, role, application: "runs-test", connectionsMax: 12 });
  const db = open("tidemark_runs");
  const owner = open(new URL(url).username);
  const searchThreads = createSearchThreads({
    connection: { url, role: "tidemark_runs", application: "runs-test-search" },
    threads: 1,
  });
  const clientWith = (limitsOn: boolean) =>
    createLocalClient(
      RunsService,
      implement(
        RunsService,
        runsHandlers({ db, searchThreads, plans: limitsOn ? hostedPlans : undefined, newId: randomUUID }),
      ),
    );
  return {
    client: clientWith(false),
    limited: clientWith(true),
    db,
    owner,
    url,
    close: async () => {
      await Promise.all([db.close(), owner.close(), searchThreads.close()]);
      await database.drop();
    },
  };
}

/** A caller; an organization of its own unless one is named. */
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
  // A call may be made for a whole file of tests.
  return { ...createCall({ identity: full, timeoutMs: 600_000 }), orgId };
}

/** A document as it travels. */
export const json = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What a document says. */
export const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** The fields of a run that was asked for with these, made by the service. */
export async function makeRun(
  client: RunsClient,
  call: Call,
  request: Parameters<RunsClient["createRun"]>[0] = {},
): Promise<NonNullable<Awaited<ReturnType<RunsClient["createRun"]>>["run"]>> {
  const { run } = await client.createRun(request, call);
  if (run === undefined) throw new Error("no run in the answer");
  return run;
}

/** Runs one statement as the owner, above row level security. */
export function asOwner<Row>(fixture: RunsFixture, statement: string, values: readonly unknown[] = []): Promise<Row[]> {
  return fixture.owner.rows<Row>(sql(`test_${statement}`.slice(0, 55) + statement.length, statement), values);
}

/** Gives a run a metric with these aggregates, as a write would. */
export async function putHead(
  fixture: RunsFixture,
  orgId: string,
  runId: string,
  key: string,
  head: { latest: number; min?: number; max?: number; count?: number; mean?: number; m2?: number | "Infinity" },
): Promise<void> {
  const { latest, min = latest, max = latest, count = 1, mean = latest, m2 = 0 } = head;
  await asOwner(
    fixture,
    insertHeads(`SELECT $1::uuid, $2::uuid, $3::text, $10::boolean, $4::float8, $5::float8, $6::float8, $7::float8, 1, $8::float8, 2,
                        $9::float8, 3, 0`),
    [orgId, runId, key, count, mean, m2, min, max, latest, isMinimiseKey(key)],
  );
  await asOwner(
    fixture,
    "INSERT INTO ingest.unsettled_runs (org_id, run_id, touched_minute) VALUES ($1, $2, 1) ON CONFLICT DO NOTHING",
    [orgId, runId],
  );
}

/** The error that a call ends with. */
export async function failure(
  promise: Promise<unknown>,
): Promise<{ reason: string; field: string | undefined; message: string }> {
  try {
    await promise;
  } catch (error) {
    return error as { reason: string; field: string | undefined; message: string };
  }
  throw new Error("it did not fail");
}
