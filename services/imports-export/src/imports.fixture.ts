import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { createDb, type Db } from "@tidemark/pg";
import { openGate } from "@tidemark/requests";
import { CallerKind, IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import { ImportsService } from "@tidemark/proto/imports/v1/imports";
import { createCall, createLocalClient, implement, type Client } from "@tidemark/rpc";
import { createTestDatabase, testSql } from "@tidemark/testkit";
import { importsHandlers } from "./handlers.ts";
import { createReaders, type Readers } from "./reading/readers.ts";

/** The service on its own database, without workers. */
export type ImportsFixture = {
  readonly client: Client<(typeof ImportsService)["method"]>;
  /** With the service's role, under row level security. */
  readonly db: Db;
  /** With the role of its workers, which sees all organizations. */
  readonly workerDb: Db;
  readonly url: string;
  readonly readers: Readers;
  /** Runs one statement as the owner of the database, exempt from row level security. */
  ask<Row>(statement: string, ...values: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

/** Starts the service's handlers on a new database. */
export async function startImports(): Promise<ImportsFixture> {
  const schemas = [
    ["runs", "runs"],
    ["ingest", "ingest"],
    ["artifacts", "artifacts"],
    ["imports", "imports-export"],
  ] as const;
  const database = await createTestDatabase(
    schemas.map(([schema, service]) => ({
      schema,
      directory: join(import.meta.dirname, `../../${service}/src/store`),
    })),
  );
  const open = (role: string) => createDb({ url: database.url, role, application: "imports-test", connectionsMax: 8 });
  const db = open("tidemark_imports");
  const workerDb = open("tidemark_imports_worker");
  const owner = open(new URL(database.url).username);
  const readers = createReaders(2);
  return {
    readers,
    client: createLocalClient(
      ImportsService,
      implement(ImportsService, importsHandlers({ db, gate: openGate, readers, wakeRelay: () => {} })),
    ),
    db,
    workerDb,
    url: database.url,
    ask: (statement, ...values) => owner.rows(testSql(statement), values),
    close: async () => {
      await Promise.all([db.close(), workerDb.close(), owner.close(), readers.close()]);
      await database.drop();
    },
  };
}

/** Returns an API key of a new organization. */
export function newIdentity(): Identity {
  return create(IdentitySchema, {
    kind: CallerKind.API_KEY,
    orgId: randomUUID(),
    scopes: ["imports:write"],
    planTier: "premium",
  });
}

/** Returns a call by a caller. */
export const callOf = (identity: Identity) => createCall({ identity, timeoutMs: 600_000 });
