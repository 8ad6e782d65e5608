import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createDb, type Db } from "@tidemark/pg";
import { hostedPlans } from "@tidemark/limits";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { UsageService } from "@tidemark/proto/usage/v1/usage";
import { createCall, createLocalClient, implement, type Call, type Client } from "@tidemark/rpc";
import { createTestDatabase, testSql } from "@tidemark/testkit";
import { usageHandlers } from "./handlers.ts";
import type { UsageDeps } from "./deps.ts";

export type UsageClient = Client<(typeof UsageService)["method"]>;

/** The service on its own database. */
export type UsageFixture = {
  readonly client: UsageClient;
  /** Another process of the service. */
  newProcess(changes: Partial<UsageDeps>): UsageClient;
  /** As the service's role, under row level security. */
  readonly db: Db;
  readonly workerDb: Db;
  /** Runs one statement as the owner of the database, above row level security. */
  ask<Row>(statement: string, ...values: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

/** Services whose views the usage document reads, in the order of their migrations. */
const owners = ["usage", "runs", "control", "ingest", "artifacts", "traces", "imports-export", "reports"];

const schema = (service: string) => ({
  schema: service === "imports-export" ? "imports" : service,
  directory: join(import.meta.dirname, "..", "..", service, "src", "store"),
});

/** Starts the service's handlers on a new database with all schemas that it reads. */
export async function startUsage(): Promise<UsageFixture> {
  const database = await createTestDatabase(owners.map(schema));
  const { url } = database;
  const open = (role: string) => createDb({ url, role, application: "usage-test", connectionsMax: 8 });
  const db = open("tidemark_usage");
  const workerDb = open("tidemark_usage_worker");
  const owner = open(new URL(url).username);
  const deps: UsageDeps = { db, workerDb, plans: hostedPlans, enforced: true, now: () => new Date() };
  const clientOf = (own: UsageDeps): UsageClient =>
    createLocalClient(UsageService, implement(UsageService, usageHandlers(own)));
  return {
    client: clientOf(deps),
    newProcess: (changes) => clientOf({ ...deps, ...changes }),
    db,
    workerDb,
    ask: (statement, ...values) => owner.rows(testSql(statement), values),
    close: async () => {
      await Promise.all([db.close(), workerDb.close(), owner.close()]);
      await database.drop();
    },
  };
}

/** Returns a call of an API key of an organization. */
export function callOf(orgId: string, identity: MessageInitShape<typeof IdentitySchema> = {}): Call {
  return createCall({
    timeoutMs: 600_000,
    identity: create(IdentitySchema, {
      kind: CallerKind.API_KEY,
      scopes: ["usage:read"],
      planTier: "free",
      billingState: "free_active",
      ...identity,
      orgId,
    }),
  });
}

/** A call of a gateway for itself. */
export const ownCall = (): Call => createCall({ timeoutMs: 600_000 });
