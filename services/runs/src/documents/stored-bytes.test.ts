import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { createDb, type Db } from "@tidemark/pg";
import { limitedGate, testSql } from "@tidemark/testkit";
import { removeProjectRow, removeRunRow } from "../removal/removed-rows.sql.ts";
import { callAs, json, startRuns, type RunsFixture } from "../runs.fixture.ts";

let runs: RunsFixture;
let worker: Db;
let call: ReturnType<typeof callAs>;
beforeAll(async () => {
  runs = await startRuns();
  worker = createDb({ url: runs.url, role: "tidemark_runs_worker", application: "test", connectionsMax: 2 });
});
afterAll(async () => {
  await worker.close();
  await runs.close();
});
beforeEach(() => {
  call = callAs();
});

const storedSql = testSql(
  "SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM platform.stored_bytes WHERE org_id = $1 AND kind = 'documents'",
);
const stored = async (): Promise<number> => (await runs.owner.one<{ bytes: number }>(storedSql, [call.orgId]))!.bytes;
const utf8 = (...texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
const create = (more: object = {}, client = runs.client) =>
  client.createRun(
    {
      project: "größe",
      name: "läuft",
      configJson: json('{"lr":0.1,"é":"漢"}'),
      metadataJson: json("{}"),
      tags: ["ä"],
      ...more,
    },
    call,
  );
const RUN = utf8("läuft", '{"lr":0.1,"é":"漢"}', "{}", "ä");
const PROJECT = utf8("größe");
const exceeded = { reason: "plan_limit_exceeded" };

test("runs and projects count the UTF-8 bytes of their texts, however they were created", async () => {
  await create();
  expect(await stored()).toBe(PROJECT + RUN);
  const id = randomUUID();
  await Promise.all([
    ...Array.from({ length: 30 }, () => create()),
    ...Array.from({ length: 5 }, () => create({ id })),
  ]);
  expect(await stored()).toBe(PROJECT + 32 * RUN);
});

test("a change is counted by its difference, and a repeat is not counted", async () => {
  const { run } = await create();
  const runId = run!.id;
  const before = PROJECT + RUN;
  const change = { runId, name: "é", notes: "漢字", tags: { tags: ["one", "two"] } };
  for (let time = 0; time < 2; time += 1) {
    await runs.client.updateRun(change, call);
    expect(await stored()).toBe(before - utf8("läuft", "ä", "{}") + utf8("é", "one", "two", '{"notes":"漢字"}'));
  }
  const changed = await stored();
  await runs.client.updateRun({ runId, status: "finished" }, call);
  expect(await stored()).toBe(changed);
  for (const markdown of ["# Größe", "# Größe", "", "x"]) {
    await runs.client.putReadme({ runId, markdown }, call);
    expect(await stored()).toBe(changed + utf8(markdown));
  }
  await runs.client.updateProject({ projectId: run!.projectId, name: "p", description: "naïve" }, call);
  expect(await stored()).toBe(changed + 1 - PROJECT + utf8("p", "naïve"));
});

test("deleted runs count until they are purged", async () => {
  const { run } = await create();
  const runId = run!.id;
  await runs.client.putReadme({ runId, markdown: "text" }, call);
  const before = await stored();
  const session = callAs({ orgId: call.orgId, scopes: ["runs:control", "sdk:ingest", "export:read"] });
  await runs.client.deleteRun({ runId }, session);
  expect(await stored()).toBe(before);
  await runs.owner.rows(testSql("UPDATE runs.runs SET purge_after = '-infinity' WHERE id = $1"), [runId]);
  await worker.withTenant(call.orgId, (tx) => removeRunRow(tx, call.orgId, runId));
  expect(await stored()).toBe(PROJECT);
  await runs.owner.rows(
    testSql("UPDATE runs.projects SET deleted_at = now(), purge_after = '-infinity' WHERE id = $1"),
    [run!.projectId],
  );
  await worker.withTenant(call.orgId, (tx) => removeProjectRow(tx, call.orgId, run!.projectId));
  expect(await stored()).toBe(0);
});

test("a run that does not fit is refused and leaves nothing; one that is there is attached to", async () => {
  const client = runs.within(limitedGate(1024 + RUN));
  const id = randomUUID();
  await create({ id }, client);
  const before = await stored();
  await expect(create({}, client)).rejects.toMatchObject(exceeded);
  await expect(create({ project: "another" }, client)).rejects.toMatchObject(exceeded);
  expect(await stored()).toBe(before);
  expect((await create({ id }, client)).created).toBe(false);
  await expect(client.forkRun({ runId: id }, call)).rejects.toMatchObject(exceeded);
  expect(await stored()).toBe(before);
});

test("texts that do not grow are admitted at the limit", async () => {
  const { run } = await create();
  const runId = run!.id;
  await runs.client.putReadme({ runId, markdown: "12345" }, call);
  await runs.client.updateRun({ runId, notes: "12345" }, call);
  const client = runs.within(limitedGate(1));
  await client.putReadme({ runId, markdown: "54321" }, call);
  await client.updateRun({ runId, notes: "54321", tags: { tags: ["é"] } }, call);
  await client.putReadme({ runId, markdown: "123456" }, call);
  const before = await stored();
  await expect(client.putReadme({ runId, markdown: "1234567" }, call)).rejects.toMatchObject(exceeded);
  await expect(client.updateRun({ runId, notes: "123456" }, call)).rejects.toMatchObject(exceeded);
  const bulk = { runIds: [runId], notes: "123", metadata: undefined };
  await expect(client.bulkUpdateRuns(bulk, call)).rejects.toMatchObject(exceeded);
  expect(await stored()).toBe(before);
});
