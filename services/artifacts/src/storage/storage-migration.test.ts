import { randomUUID } from "node:crypto";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createDb, platformMigrations, sql, type Db } from "@tidemark/pg";
import { createFencedDatabase, type FencedDatabase } from "@tidemark/testkit";

const migrations = { schema: "artifacts", directory: join(import.meta.dirname, "../store/migrations") };
const runs = { schema: "runs", directory: join(import.meta.dirname, "../../../runs/src/store/migrations") };

/** Organizations with so many artifacts of known and of unknown size. */
const organizations = [
  { orgId: randomUUID(), known: 2, unknown: 3 },
  { orgId: randomUUID(), known: 1, unknown: 0 },
];

let before: string;
let database: FencedDatabase;
let service: Db;

beforeAll(async () => {
  before = await mkdtemp(join(tmpdir(), "tidemark-migrations-"));
  const files = (await readdir(migrations.directory)).filter((file) => file < "0004");
  await Promise.all(files.map((file) => copyFile(join(migrations.directory, file), join(before, file))));
  database = await createFencedDatabase();
  await database.migrate([platformMigrations, runs, { ...migrations, directory: before }]);
  const insertArtifact = sql(
    "test_insert_artifact_of_before",
    `INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, size_bytes, mime_type, storage_backend, metadata)
     SELECT $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'file', 'a', 'u', $2, 'm', 'external', '{}' FROM generate_series(1, $3)`,
  );
  const insertStorage = sql(
    "test_insert_storage_of_before",
    "INSERT INTO artifacts.storage (org_id, artifact_bytes, version_bytes, artifacts, collections) VALUES ($1, 10, 20, $2, 4)",
  );
  for (const { orgId, known, unknown } of organizations) {
    await database.admin.rows(insertArtifact, [orgId, 5, known]);
    await database.admin.rows(insertArtifact, [orgId, null, unknown]);
    await database.admin.rows(insertStorage, [orgId, known + unknown]);
  }
  await database.migrate([migrations]);
  service = createDb({ url: database.url, role: "tidemark_artifacts", application: "test", connectionsMax: 2 });
});
afterAll(async () => {
  await service.close();
  await database.drop();
  await rm(before, { recursive: true, force: true });
});

const read = sql(
  "test_read_storage_after",
  `SELECT artifact_bytes, version_bytes, artifacts, unknown_sizes, collections FROM artifacts.usage_v1 WHERE org_id = $1`,
);
const storageOf = (orgId: string) => service.readTenant(orgId, (tx) => tx.one(read, [orgId]));

test("what organizations kept is in their first slot, and artifacts without a size are counted", async () => {
  for (const { orgId, known, unknown } of organizations) {
    const all = known + unknown;
    expect(await storageOf(orgId)).toEqual({
      artifact_bytes: 10,
      version_bytes: 20,
      artifacts: all,
      unknown_sizes: unknown,
      collections: 4,
    });
  }
  const slots = sql("test_slots_after", "SELECT DISTINCT slot FROM artifacts.storage");
  expect(await database.admin.rows(slots, [])).toEqual([{ slot: 0 }]);
});

test("a process of the version before still counts", async () => {
  const { orgId } = organizations[1]!;
  const add = sql("test_add_storage_of_before", "SELECT artifacts.add_storage($1, 7, 0, 0, 0, -1, 0, 0, 0)");
  await service.withTenant(orgId, (tx) => tx.rows(add, [orgId]));
  expect(await storageOf(orgId)).toMatchObject({ artifact_bytes: 17, artifacts: 0, unknown_sizes: 0 });
});

test("rows are fenced from their owner again", async () => {
  const open = sql(
    "test_open_tables",
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'artifacts'::regnamespace AND NOT (relrowsecurity AND relforcerowsecurity)`,
  );
  expect(await database.admin.rows(open, [])).toEqual([{ name: "artifacts.upload_secret" }]);
});
