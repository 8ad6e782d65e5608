import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createDb, type Db } from "@tidemark/pg";
import { openGate } from "@tidemark/requests";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { ReportsService } from "@tidemark/proto/reports/v1/reports";
import { createCall, createLocalClient, implement, type Call, type Client } from "@tidemark/rpc";
import { createTestDatabase, testSql } from "@tidemark/testkit";
import { reportsHandlers } from "./handlers.ts";
import type { ReportsDeps } from "./deps.ts";

export type ReportsClient = Client<(typeof ReportsService)["method"]>;

/** The service on its own database. */
export type ReportsFixture = {
  readonly client: ReportsClient;
  /** Another process of the service. */
  newProcess(changes: Partial<ReportsDeps>): ReportsClient;
  /** As the service's role, under row level security. */
  readonly db: Db;
  /** Stores the organization's key that `callOf` calls with, for handlers that look it up. */
  addKey(orgId: string): Promise<void>;
  /** Runs one statement as the owner of the database, above row level security. */
  ask<Row>(statement: string, ...values: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

const schema = (service: string) => ({
  schema: service,
  directory: join(import.meta.dirname, "..", "..", service, "src", "store"),
});

const KEY_SCOPES = ["sdk:ingest", "export:read"];

const addKeySql = testSql(
  `WITH organization AS (
     INSERT INTO control.organizations (org_id, slug, name, plan_tier, billing_state, account_type, seat_limit)
     VALUES ($1, $1::uuid::text, 'Acme', 'free', 'free_active', 'business', 2) ON CONFLICT DO NOTHING),
   account AS (INSERT INTO control.service_accounts (org_id, id, name) VALUES ($1, $1, 'a'))
   INSERT INTO control.api_keys (org_id, id, service_account_id, credential_id, hash, key_prefix, name, scopes)
   VALUES ($1, $1, $1, $1::uuid::text, sha256(''), 'tm_', 'a key', $2)`,
);

/** Starts the service's handlers on a new database with the schemas `runs`, `control` and `reports`. */
export async function startReports(): Promise<ReportsFixture> {
  const database = await createTestDatabase([schema("runs"), schema("control"), schema("reports")]);
  const { url } = database;
  const open = (role: string) => createDb({ url, role, application: "reports-test", connectionsMax: 12 });
  const db = open("tidemark_reports");
  const owner = open(new URL(url).username);
  const deps: ReportsDeps = {
    db,
    newId: randomUUID,
    randomBytes,
    now: () => new Date(),
    shareTtlSeconds: 3600,
    storageGate: openGate,
  };
  const clientOf = (own: ReportsDeps): ReportsClient =>
    createLocalClient(ReportsService, implement(ReportsService, reportsHandlers(own)));
  return {
    client: clientOf(deps),
    newProcess: (changes) => clientOf({ ...deps, ...changes }),
    db,
    addKey: async (orgId) => {
      await owner.rows(addKeySql, [orgId, KEY_SCOPES]);
    },
    ask: (statement, ...values) => owner.rows(testSql(statement), values),
    close: async () => {
      await Promise.all([db.close(), owner.close()]);
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
      credentialId: orgId,
      scopes: [...KEY_SCOPES],
      planTier: "free",
      billingState: "free_active",
      ...identity,
      orgId,
    }),
  });
}

/** A call without an identity, from outside. */
export const nobody = (): Call => createCall({ timeoutMs: 600_000 });

/** Encodes a value as messages carry it. */
export const json = (value: unknown): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(value));

/** Decodes a document of a message. */
export const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
