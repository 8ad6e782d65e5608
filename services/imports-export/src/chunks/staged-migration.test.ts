import { randomUUID } from "node:crypto";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { platformMigrations, sql } from "@tidemark/pg";
import { createFencedDatabase, type FencedDatabase } from "@tidemark/testkit";

const services = join(import.meta.dirname, "../../..");
const setOf = (schema: string, service = schema) => ({
  schema,
  directory: join(services, service, "src/store/migrations"),
});
const migrations = setOf("imports", "imports-export");

let before: string;
let database: FencedDatabase;
const organizations = [randomUUID(), randomUUID()];

beforeAll(async () => {
  before = await mkdtemp(join(tmpdir(), "tidemark-migrations-"));
  const files = (await readdir(migrations.directory)).filter((file) => file < "0005");
  await Promise.all(files.map((file) => copyFile(join(migrations.directory, file), join(before, file))));
  database = await createFencedDatabase();
  const others = [platformMigrations, setOf("runs"), setOf("ingest"), setOf("artifacts")];
  await database.migrate([...others, { ...migrations, directory: before }]);
  const insertChunks = sql(
    "test_insert_chunks_of_before",
    `INSERT INTO imports.chunks (org_id, job_id, sequence, chunk_id, content_hash, is_final, runs, metrics, attributes, artifacts, warnings, content)
     SELECT $1, 1, n, n::text, sha256(''), false, 0, 0, 0, 0, 0, CASE WHEN n > 0 THEN convert_to(repeat('x', n * 1000), 'UTF8') END
     FROM generate_series(0, 3) n`,
  );
  const insertPiece = sql(
    "test_insert_piece_of_before",
    `INSERT INTO imports.archive_pieces (org_id, archive_id, number, first_line, lines, content_hash, is_part, content)
     VALUES ($1, $1, 0, 1, 1, sha256(''), false, convert_to(repeat('y', 500), 'UTF8'))`,
  );
  await database.admin.rows(insertChunks, [organizations[0]]);
  for (const orgId of organizations) await database.admin.rows(insertPiece, [orgId]);
  await database.migrate([migrations]);
});
afterAll(async () => {
  await database.drop();
  await rm(before, { recursive: true, force: true });
});

const read = sql("test_read_staged_after", "SELECT staged_bytes AS bytes FROM imports.usage_v1 WHERE org_id = $1");
const stagedOf = async (orgId: string) => (await database.admin.one<{ bytes: number }>(read, [orgId]))?.bytes;

test("what was staged before is counted, and what is removed of it", async () => {
  expect(await Promise.all(organizations.map(stagedOf))).toEqual([6500, 500]);
  const empty = sql("test_empty_after", "UPDATE imports.chunks SET content = NULL WHERE sequence = 2");
  await database.admin.rows(empty, []);
  const remove = sql("test_remove_after", "DELETE FROM imports.archive_pieces");
  await database.admin.rows(remove, []);
  expect(await Promise.all(organizations.map(stagedOf))).toEqual([4000, 0]);
});

test("rows are fenced from their owner again", async () => {
  const open = sql(
    "test_open_tables",
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'imports'::regnamespace AND NOT (relrowsecurity AND relforcerowsecurity)`,
  );
  expect(await database.admin.rows(open, [])).toEqual([]);
});
