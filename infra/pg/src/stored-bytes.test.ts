import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { createTestDatabase, testSql, type TestDatabase } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { createDb, type Db, type Tx } from "./db.ts";

let database: TestDatabase;
let owner: Db;
let service: Db;
let orgId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const open = (role: string) => createDb({ url: database.url, role, application: "test", connectionsMax: 24 });
  owner = open("postgres");
  service = open("tidemark_runs");
  for (const statement of [
    "CREATE TABLE public.things (org_id uuid NOT NULL, id integer NOT NULL, bytes integer NOT NULL)",
    "SELECT platform.fence('public.things')",
    "SELECT platform.count_stored('public.things', 'documents')",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE public.things TO tidemark_runs",
  ])
    await owner.rows(testSql(statement), []);
});
afterAll(async () => {
  await Promise.all([owner.close(), service.close()]);
  await database.drop();
});
beforeEach(() => {
  orgId = randomUUID();
});

const addSql = testSql("SELECT platform.add_stored($1, $2, $3)");
const add = (tx: Tx, kind: string, bytes: number) => tx.rows(addSql, [orgId, kind, bytes]);
const insertSql = testSql(
  "INSERT INTO public.things (org_id, id, bytes) SELECT $1, * FROM unnest($2::integer[], $3::integer[])",
);
const storedOf = async (of = orgId) => {
  const rows = await owner.rows<{ kind: string; bytes: number; slots: number }>(
    testSql(
      "SELECT kind, sum(bytes)::float8 AS bytes, count(*)::integer AS slots FROM platform.stored_bytes WHERE org_id = $1 GROUP BY kind",
    ),
    [of],
  );
  return Object.fromEntries(rows.map(({ kind, bytes, slots }) => [kind, { bytes, slots }]));
};

test("writers whose transactions are open do not wait for each other, at any slot where their connections begin", async () => {
  const arrived = Promise.withResolvers<void>();
  let waiting = 0;
  // More than there are slots to begin at, so that some of them collide.
  await Promise.all(
    Array.from({ length: 20 }, () =>
      service.withTenant(orgId, async (tx) => {
        await add(tx, "logs", 3);
        await add(tx, "attributes", 1);
        await add(tx, "logs", 4);
        if (++waiting === 20) arrived.resolve();
        await arrived.promise;
      }),
    ),
  );
  expect(await storedOf()).toEqual({ logs: { bytes: 140, slots: 20 }, attributes: { bytes: 20, slots: 20 } });
});

test("many short transactions lose nothing, and use few slots", async () => {
  await Promise.all(
    Array.from({ length: 300 }, (_, i) => service.withTenant(orgId, (tx) => add(tx, "logs", i % 2 === 0 ? 10 : -3))),
  );
  const { logs } = await storedOf();
  expect(logs!.bytes).toBe(150 * 7);
  expect(logs!.slots).toBeLessThanOrEqual(40);
});

test("what is rolled back does not count", async () => {
  const failing = service.withTenant(orgId, async (tx) => {
    await tx.rows(insertSql, [orgId, [1], [100]]);
    throw new Error("back");
  });
  await expect(failing).rejects.toThrow("back");
  expect(await storedOf()).toEqual({});
});

test("rows count when they are inserted, changed and deleted, in any kind of statement", async () => {
  const run = (text: string, ...values: unknown[]) =>
    service.withTenant(orgId, (tx) => tx.rows(testSql(text), [orgId, ...values]));
  const bytes = async () => (await storedOf())["documents"]?.bytes ?? 0;
  await service.withTenant(orgId, (tx) => tx.rows(insertSql, [orgId, [1, 2, 3], [100, 20, 0]]));
  expect(await bytes()).toBe(120);
  await run("UPDATE public.things SET bytes = bytes * 2 WHERE org_id = $1");
  expect(await bytes()).toBe(240);
  await run("UPDATE public.things SET id = id + 1 WHERE org_id = $1");
  expect(await bytes()).toBe(240);
  await run("DELETE FROM public.things WHERE org_id = $1 AND id = 2");
  expect(await bytes()).toBe(40);
  await run("WITH gone AS (DELETE FROM public.things WHERE org_id = $1 RETURNING 1) SELECT count(*) FROM gone");
  expect(await bytes()).toBe(0);
});

test("a service sees and changes what its organization stores, and nothing of others", async () => {
  const other = randomUUID();
  for (const id of [orgId, other]) await service.withTenant(id, (tx) => tx.rows(addSql, [id, "logs", 5]));
  const seen = await service.withTenant(orgId, (tx) =>
    tx.rows<{ org_id: string }>(testSql("SELECT org_id FROM platform.stored_bytes"), []),
  );
  expect(seen).toEqual([{ org_id: orgId }]);
  await expect(service.withTenant(orgId, (tx) => tx.rows(addSql, [other, "logs", 1]))).rejects.toThrow(
    /row-level security/,
  );
  await expect(service.rows(testSql("SELECT org_id FROM platform.stored_bytes"), [])).rejects.toThrow(
    /app\.org_id|uuid/,
  );
  expect((await storedOf(other))["logs"]?.bytes).toBe(5);
});
