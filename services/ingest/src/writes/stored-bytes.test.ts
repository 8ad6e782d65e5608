import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { chunkOfRows } from "@tidemark/archive";
import { TableChunkSchema } from "@tidemark/proto/ingest/v1/objects";
import { limitedGate, testSql } from "@tidemark/testkit";
import { tableOf } from "../objects/objects.fixture.ts";
import { removeRunRows } from "../removal/removal.sql.ts";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

let fixture: IngestFixture;
let tenant: Tenant;
let runId: string;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  runId = await fixture.newRun(tenant);
});

const storedSql = testSql(
  "SELECT kind, sum(bytes)::float8 AS bytes FROM platform.stored_bytes WHERE org_id = $1 GROUP BY kind HAVING sum(bytes) <> 0",
);
/** Returns the counted bytes of the kinds of this service. */
const storedOf = async ({ orgId }: Tenant): Promise<Record<string, number>> => {
  const rows = await fixture.owner.rows<{ kind: string; bytes: number }>(storedSql, [orgId]);
  return Object.fromEntries(rows.filter(({ kind }) => kind !== "documents").map(({ kind, bytes }) => [kind, bytes]));
};
const purge = () => removeRunRows(fixture.poolOf("tidemark_ingest_worker"), tenant.orgId, runId, tenant.projectId);
const exceeded = { reason: "plan_limit_exceeded" };
const utf8 = (text: string): number => Buffer.byteLength(text);

describe("attributes", () => {
  const attribute = (path: string, value: unknown) => ({
    path,
    type: "config",
    loggedAt: "",
    valueJson: Buffer.from(JSON.stringify(value)),
    summaryJson: Buffer.from("{}"),
    artifactId: "",
  });
  const send = (...attributes: ReturnType<typeof attribute>[]) =>
    fixture.write.appendAttributes({ runId, attributes, idempotencyKey: "" }, callOf(tenant));

  test("count the UTF-8 bytes of their paths and JSON, also of older rows of a path, until they are purged", async () => {
    const texts = ["plain", "größer", "漢字 🚀", "x".repeat(95_000)];
    await send(...texts.map((text, i) => attribute(`path/é${i}`, text)));
    await send(attribute("path/é0", texts[0]));
    const one = (text: string) => utf8("path/é0") + utf8(JSON.stringify(text)) + 2;
    const expected = [...texts, texts[0]!].reduce((sum, text) => sum + one(text), 0);
    expect(await storedOf(tenant)).toEqual({ attributes: expected });
    await purge();
    expect(await storedOf(tenant)).toEqual({});
  });

  test("of a repeat count once, of a refused request not at all", async () => {
    const request = { runId, attributes: [attribute("a", "b")], idempotencyKey: "again" };
    await fixture.write.appendAttributes(request, callOf(tenant));
    await fixture.write.appendAttributes(request, callOf(tenant));
    const wrong = { ...attribute("a", 1), artifactId: "0a1b2c3d-0000-4000-8000-000000000001" };
    await expect(send(wrong)).rejects.toMatchObject({ reason: "bad_request" });
    expect(await storedOf(tenant)).toEqual({ attributes: 1 + 3 + 2 });
  });

  test("of writers at the same time are all there", async () => {
    await Promise.all(Array.from({ length: 60 }, (_, i) => send(attribute("p", i % 10), attribute("q", "é"))));
    expect(await storedOf(tenant)).toEqual({ attributes: 60 * (1 + 1 + 2 + (1 + 4 + 2)) });
  });

  test("that do not fit are refused and leave nothing; a repeat of what is stored is answered", async () => {
    const gate = limitedGate(6 + 6);
    const client = fixture.writer(undefined, { storageGate: gate });
    const request = (value: string, idempotencyKey = "") => ({
      runId,
      attributes: [attribute("a", value)],
      idempotencyKey,
    });
    await client.appendAttributes(request("b", "first"), callOf(tenant));
    await expect(client.appendAttributes(request("bcdefgh"), callOf(tenant))).rejects.toMatchObject(exceeded);
    expect(await storedOf(tenant)).toEqual({ attributes: 6 });
    await client.appendAttributes(request("b"), callOf(tenant));
    expect([gate.admitted, await storedOf(tenant)]).toEqual([12, { attributes: 12 }]);
    expect((await client.appendAttributes(request("b", "first"), callOf(tenant))).attributes).toEqual([]);
  });
});

describe("console lines", () => {
  const line = (lineNumber: number, message: string) => ({ lineNumber, message, timestamp: "" });
  const send = (client: IngestFixture["write"], ...messages: string[]) =>
    client.appendLogLines(
      { runId, stream: "stdout", lines: messages.map((message, i) => line(i + 1, message)), idempotencyKey: "" },
      callOf(tenant),
    );
  const bytesOf = (...messages: string[]) => messages.reduce((sum, message) => sum + utf8(message) + 16, 0);

  test("count the UTF-8 bytes of their messages and 16 each, before and after compaction, until they are purged", async () => {
    const messages = ["", "plain", "naïve 漢字", "🚀".repeat(100)];
    await send(fixture.write, ...messages);
    await send(fixture.write, ...messages);
    const expected = { logs: 2 * bytesOf(...messages) };
    expect(await storedOf(tenant)).toEqual(expected);
    const compactor = fixture.compactor();
    await compactor.round();
    await compactor.stop();
    expect(await storedOf(tenant)).toEqual(expected);
    const left = testSql("SELECT count(*)::integer AS rows FROM ingest.log_segments WHERE run_id = $1");
    expect(await fixture.owner.one(left, [runId])).toEqual({ rows: 0 });
    await purge();
    expect(await storedOf(tenant)).toEqual({});
  });

  test("that the SDK captured count as lines and as attributes", async () => {
    const text = JSON.stringify("line é");
    const captured = {
      path: "console/stdout",
      type: "string_series",
      step: 1,
      loggedAt: "",
      valueJson: Buffer.from(text),
      summaryJson: Buffer.from("{}"),
      artifactId: "",
    };
    await fixture.write.appendAttributes({ runId, attributes: [captured], idempotencyKey: "" }, callOf(tenant));
    const attributes = utf8("console/stdout") + utf8(text) + 2;
    expect(await storedOf(tenant)).toEqual({ attributes, logs: bytesOf("line é") });
  });

  test("that do not fit are refused and leave nothing", async () => {
    const client = fixture.writer(undefined, { storageGate: limitedGate(40) });
    await send(client, "é");
    await expect(send(client, "1234567")).rejects.toMatchObject(exceeded);
    expect(await storedOf(tenant)).toEqual({ logs: 18 });
    await send(client, "123456");
    expect(await storedOf(tenant)).toEqual({ logs: 40 });
  });
});

describe("objects", () => {
  const chunkOfTexts = (rows: readonly object[]) =>
    create(TableChunkSchema, chunkOfRows(rows.map((row) => JSON.stringify(row))) as never);

  test("count the UTF-8 bytes of their texts and JSON, with the rows of tables, until they are purged", async () => {
    const rows = Array.from({ length: 250 }, (_, i) => ({ name: `é${i}`, n: i }));
    const chunks = [0, 100, 200].map((from) => chunkOfTexts(rows.slice(from, from + 100)));
    const { object } = await fixture.write.createObject(tableOf(runId, { chunks }), callOf(tenant));
    const documents = [object!.valueJson, object!.metadataJson, object!.summaryJson];
    const own = documents.reduce((sum, bytes) => sum + bytes.length, utf8(object!.key));
    const cells = rows.flatMap(({ name, n }) => [JSON.stringify(name), `${n}`]);
    const expected = own + cells.reduce((sum, cell) => sum + utf8(cell) + 1, 0);
    expect(await storedOf(tenant)).toEqual({ objects: expected });
    await purge();
    expect(await storedOf(tenant)).toEqual({});
  });

  test("that attributes make count as attributes alone", async () => {
    const attribute = {
      path: "text",
      type: "string_series",
      step: 1,
      loggedAt: "",
      valueJson: Buffer.from('"abc"'),
      summaryJson: Buffer.from("{}"),
      artifactId: "",
    };
    await fixture.write.appendAttributes({ runId, attributes: [attribute], idempotencyKey: "" }, callOf(tenant));
    const made = testSql("SELECT count(*)::integer AS rows FROM ingest.objects WHERE run_id = $1");
    expect(await fixture.owner.one(made, [runId])).toEqual({ rows: 1 });
    expect(await storedOf(tenant)).toEqual({ attributes: 4 + 5 + 2 });
    await purge();
    expect(await storedOf(tenant)).toEqual({});
  });

  test("of a repeat count once, and those that do not fit leave nothing", async () => {
    const request = { ...tableOf(runId, { chunks: [chunkOfTexts([{ a: "x" }])] }), idempotencyKey: "again" };
    await fixture.write.createObject(request, callOf(tenant));
    const once = await storedOf(tenant);
    await fixture.write.createObject(request, callOf(tenant));
    const client = fixture.writer(undefined, { storageGate: limitedGate(once["objects"]! - 1) });
    await expect(client.createObject({ ...request, idempotencyKey: "another" }, callOf(tenant))).rejects.toMatchObject(
      exceeded,
    );
    expect(await client.createObject(request, callOf(tenant))).toMatchObject({ replayed: true });
    expect(await storedOf(tenant)).toEqual(once);
  });
});

describe("values of ranks", () => {
  const pointsSql = testSql(
    `SELECT coalesce(sum(points), 0)::integer AS points, coalesce(sum(month_points), 0)::integer AS written
     FROM ingest.rank_points WHERE org_id = $1`,
  );
  const report = (step: number, values: number[]) =>
    fixture.write.appendRankMetrics(
      { runId, keys: values.map((_, i) => `k${i}`), values, step, rank: 0, worldSize: 1, localRank: 0, weight: 1 },
      callOf(tenant),
    );

  test("that replace others are written, and not more of them stored; purged ones are gone", async () => {
    await report(1, [1, 2, 3]);
    await report(1, [4, 5, 6]);
    await report(2, [1]);
    expect(await fixture.owner.one(pointsSql, [tenant.orgId])).toEqual({ points: 4, written: 7 });
    await purge();
    expect(await fixture.owner.one(pointsSql, [tenant.orgId])).toEqual({ points: 0, written: 7 });
  });
});
