import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { bytesOfColumn, doublesOfBytes, rowsOfChunk } from "@tidemark/archive";
import { restoreRankRows } from "../rank-metrics/archived-rank-points.sql.ts";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let restorer: ReturnType<IngestFixture["restorer"]>;
beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
  restorer = ingest.restorer();
});
afterAll(() => ingest.close());

const column = (...numbers: readonly number[]): Uint8Array => bytesOfColumn(Float64Array.from(numbers));
const nothing = new Uint8Array();
const utf8 = new TextEncoder();
const at = 1.7e15;

describe("points", () => {
  const write = (runId: string) => ({
    runId,
    keys: ["a", "b"],
    steps: column(5, 1, 5),
    createdUs: column(at + 2, at + 7, at + 3),
    timestampsUs: column(at, Number.NaN, at + 1),
    values: column(1, -0, Number.NaN, 1e308, 5e-324, -Infinity),
  });
  const exported = async (runId: string) => {
    const points = new Map<string, number[][]>();
    for await (const message of ingest.archive.exportPoints({ runIds: [runId] }, callOf(tenant))) {
      const [steps, values] = [doublesOfBytes(message.steps), doublesOfBytes(message.values)];
      const [created, sent] = [doublesOfBytes(message.createdUs), doublesOfBytes(message.timestampsUs)];
      message.keys.forEach((key, k) => {
        const rows = Array.from(steps, (step, i) => [
          step,
          values[k * steps.length + i]!,
          created[i]!,
          sent[i] ?? Number.NaN,
        ]);
        points.set(key, [...(points.get(key) ?? []), ...rows]);
      });
    }
    return points;
  };
  const expected = new Map([
    [
      "a",
      [
        [5, 1, at + 2, at],
        [1, -0, at + 7, Number.NaN],
        [5, Number.NaN, at + 3, at + 1],
      ],
    ],
    [
      "b",
      [
        [5, 1e308, at + 2, at],
        [1, 5e-324, at + 7, Number.NaN],
        [5, -Infinity, at + 3, at + 1],
      ],
    ],
  ]);

  test("have their bits, times and order, before and after they are compacted, and count as others do", async () => {
    const runId = await ingest.newRun(tenant);
    await restorer.restorePoints({ name: randomUUID(), points: [write(runId)] }, callOf(tenant));
    expect(await exported(runId)).toEqual(expected);
    const listed = await ingest.read.listMetricPoints({ runId, key: "a", limit: 10 }, callOf(tenant));
    const compaction = ingest.compactor();
    await compaction.round();
    await compaction.stop();
    expect(await exported(runId)).toEqual(expected);
    expect(await ingest.read.listMetricPoints({ runId, key: "a", limit: 10 }, callOf(tenant))).toEqual(listed);
  });

  test("are stored once, by whichever process, and not under the name of others", async () => {
    const runId = await ingest.newRun(tenant);
    const request = { name: randomUUID(), points: [write(runId)] };
    await Promise.all(
      [restorer, ingest.restorer(), ingest.restorer()].map((one) => one.restorePoints(request, callOf(tenant))),
    );
    expect(await exported(runId)).toEqual(expected);
    const other = { ...request, points: [{ ...write(runId), createdUs: column(1, 2, 3) }] };
    await expect(restorer.restorePoints(other, callOf(tenant))).rejects.toMatchObject({
      reason: "idempotency_key_reused",
    });
  });

  test.each([
    ["a column is shorter", { createdUs: column(1) }, "bad_request"],
    ["a number is cut", { steps: column(1, 2, 3).subarray(1) }, "bad_request"],
    ["a step is negative", { steps: column(-1, 1, 2) }, "bad_request"],
    ["a step is not finite", { steps: column(1, Number.NaN, 2) }, "bad_request"],
    ["keys are out of order", { keys: ["b", "a"] }, "bad_request"],
    ["the run does not exist", { runId: randomUUID() }, "not_found"],
  ])("are refused when %s", async (_what, change, reason) => {
    const runId = await ingest.newRun(tenant);
    const request = { name: randomUUID(), points: [write(runId), { ...write(runId), ...change }] };
    await expect(restorer.restorePoints(request, callOf(tenant))).rejects.toMatchObject({ reason });
    expect(await exported(runId)).toEqual(new Map());
  });
});

test("points of ranks have their times, and the value that came last", async () => {
  const runId = await ingest.newRun(tenant);
  const request = {
    name: randomUUID(),
    runId,
    key: "load",
    steps: column(1, 1, 1, 2),
    values: column(1, 2, 3, 4),
    ranks: column(0, 1, 0, 0),
    worldSizes: column(2, 2, 2, 4),
    localRanks: column(0, 0, 1, 0),
    weights: column(1, 2, 1, 0.5),
    createdUs: column(at, at + 1, at + 2, at + 3),
    timestampsUs: column(at, Number.NaN, at, at),
  };
  await Promise.all([restorer, ingest.restorer()].map((one) => one.restoreRankPoints(request, callOf(tenant))));
  const rows: number[][] = [];
  for await (const message of ingest.archive.exportRankPoints({ runIds: [runId] }, callOf(tenant))) {
    const columns = [
      message.steps,
      message.values,
      message.ranks,
      message.worldSizes,
      message.localRanks,
      message.weights,
      message.createdUs,
    ];
    const sent = doublesOfBytes(message.timestampsUs);
    doublesOfBytes(message.steps).forEach((_, i) => {
      rows.push([...columns.map((bytes) => doublesOfBytes(bytes)[i]!), sent[i] ?? Number.NaN]);
    });
  }
  expect(rows.toSorted((a, b) => a[0]! - b[0]! || a[2]! - b[2]!)).toEqual([
    [1, 3, 0, 2, 1, 1, at + 2, at],
    [1, 2, 1, 2, 0, 2, at + 1, Number.NaN],
    [2, 4, 0, 4, 0, 0.5, at + 3, at],
  ]);
  const wrong = { ...request, name: randomUUID(), ranks: column(2, 1, 0, 0) };
  await expect(restorer.restoreRankPoints(wrong, callOf(tenant))).rejects.toMatchObject({ reason: "bad_request" });
});

test("keys of one page that came together keep their values", async () => {
  const runId = await ingest.newRun(tenant);
  const { orgId } = tenant;
  const rows = [{ step: 1, rank: 0, localRank: 0, weight: 1, receivedUs: at, sentUs: Number.NaN }];
  const keys = Array.from({ length: 6 }, (_, i) => `k${i}`);
  for (const [i, key] of keys.entries()) {
    await ingest.db.withTenant(orgId, (tx) =>
      restoreRankRows(tx, { orgId, runId, key, worldSize: 1, rows: rows.map((row) => ({ ...row, value: i })) }, 0),
    );
  }
  const found: [string, number][] = [];
  for await (const { key, values } of ingest.archive.exportRankPoints({ runIds: [runId] }, callOf(tenant))) {
    for (const value of doublesOfBytes(values)) found.push([key, value]);
  }
  expect(found.toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual(keys.map((key, i) => [key, i]));
});

test("console lines have their times and their order, also many of one moment", async () => {
  const runId = await ingest.newRun(tenant);
  const count = 200;
  const lines = Array.from({ length: count }, (_, i) => ({
    number: Math.floor(i / 2),
    message: `é ${i}`,
    created: at + (i % 2 === 0 ? 0 : 1 + (i % 3)),
    sent: i % 4 === 0 ? at + i : Number.NaN,
  }));
  const request = {
    name: randomUUID(),
    runId,
    stream: "stderr",
    lineNumbers: column(...lines.map(({ number }) => number)),
    messages: lines.map(({ message }) => message),
    createdUs: column(...lines.map(({ created }) => created)),
    timestampsUs: column(...lines.map(({ sent }) => sent)),
  };
  await Promise.all([restorer, ingest.restorer()].map((one) => one.restoreLogLines(request, callOf(tenant))));
  const read = async () => {
    const found: object[] = [];
    for await (const message of ingest.archive.exportLogLines({ runIds: [runId] }, callOf(tenant))) {
      const [numbers, created] = [doublesOfBytes(message.lineNumbers), doublesOfBytes(message.createdUs)];
      const sent = doublesOfBytes(message.timestampsUs);
      message.messages.forEach((text, i) =>
        found.push({ number: numbers[i], message: text, created: created[i], sent: sent[i] ?? Number.NaN }),
      );
    }
    return found;
  };
  expect(await read()).toEqual(lines);
  const compaction = ingest.compactor();
  await compaction.round();
  await compaction.stop();
  expect(await read()).toEqual(lines);
});

test("attributes have their digits and times, and make the objects that attributes make", async () => {
  const runId = await ingest.newRun(tenant);
  const attribute = (path: string, type: string, value: string) => ({
    path,
    type,
    step: 1,
    loggedAt: "2026-01-02T03:04:05.000001Z",
    valueJson: utf8.encode(value),
    summaryJson: utf8.encode('{"a":1.50}'),
    artifactId: "",
    createdAt: "2026-01-02T03:04:06.000001Z",
  });
  const attributes = [attribute("a", "config", "12345678901234567890"), attribute("t", "string_series", '"x"')];
  const request = { name: randomUUID(), runId, attributes };
  await Promise.all([restorer, ingest.restorer()].map((one) => one.restoreAttributes(request, callOf(tenant))));
  const { attributes: rows } = await ingest.read.listAttributes({ runId, limit: 10 }, callOf(tenant));
  expect(
    rows.map(({ valueJson, summaryJson, ...row }) => ({
      ...row,
      value: String(Buffer.from(valueJson)),
      summary: String(Buffer.from(summaryJson)),
    })),
  ).toMatchObject([
    {
      path: "a",
      value: "12345678901234567890",
      summary: '{"a":1.50}',
      createdAt: attributes[0]!.createdAt,
      loggedAt: attributes[0]!.loggedAt,
    },
    { path: "t", value: '"x"', step: 1 },
  ]);
  const { objects } = await ingest.read.exploreObjects({ runId, kind: "text", limit: 10 }, callOf(tenant));
  expect(objects).toHaveLength(1);
});

test("tables take their rows in several requests, and end as they were", async () => {
  const runId = await ingest.newRun(tenant);
  const archiveId = randomUUID();
  const object = {
    id: 7,
    key: "table",
    kind: "table",
    valueJson: utf8.encode("{}"),
    metadataJson: utf8.encode("{}"),
    summaryJson: utf8.encode('{"row_count":250}'),
    createdAt: "2026-01-02T03:04:06Z",
  };
  const objects = { name: randomUUID(), archiveId, runId, objects: [object, { ...object, id: 8, key: "other" }] };
  await Promise.all([restorer, ingest.restorer()].map((one) => one.restoreObjects(objects, callOf(tenant))));
  const rows = Array.from({ length: 250 }, (_, i) => (i % 3 === 0 ? `{"a":${i}.50}` : `{"b":"é","a":${i}}`));
  for (const [from, to] of [
    [0, 30],
    [30, 130],
    [130, 250],
  ] as const) {
    const request = { name: `${objects.name}:${from}`, archiveId, objectId: 7, rows: rows.slice(from, to) };
    await Promise.all([restorer, ingest.restorer()].map((one) => one.restoreTableRows(request, callOf(tenant))));
  }
  const found: string[] = [];
  const keys: string[] = [];
  const sizes: number[] = [];
  for await (const { rows: part } of ingest.archive.exportObjects({ runIds: [runId] }, callOf(tenant))) {
    if (part.case === "object") keys.push(part.value.key);
    else if (part.case === "tableRows") {
      found.push(...rowsOfChunk(part.value, 0, part.value.rowCount));
      sizes.push(part.value.rowCount);
    }
  }
  expect(keys.toSorted()).toEqual(["other", "table"]);
  expect([found, sizes]).toEqual([rows, [100, 100, 50]]);
  const more = { name: randomUUID(), archiveId, objectId: 7, rows: ["{}"] };
  const stranger = await ingest.newTenant();
  await expect(restorer.restoreTableRows(more, callOf(stranger))).rejects.toMatchObject({ reason: "not_found" });
  await expect(restorer.restoreTableRows(more, callOf(tenant, randomUUID()))).rejects.toMatchObject({
    reason: "not_found",
  });
  await expect(restorer.restoreTableRows({ ...more, rows: ["[]"] }, callOf(tenant))).rejects.toMatchObject({
    reason: "bad_request",
  });
  await restorer.forgetArchive({ archiveId }, callOf(tenant));
  await expect(restorer.restoreTableRows(more, callOf(tenant))).rejects.toMatchObject({ reason: "not_found" });
});

test("nothing is restored into a run of another organization, or without a name", async () => {
  const [runId, stranger] = [await ingest.newRun(tenant), callOf(await ingest.newTenant())];
  const name = randomUUID();
  const lines = {
    name,
    runId,
    stream: "stdout",
    lineNumbers: column(1),
    messages: ["x"],
    createdUs: column(at),
    timestampsUs: nothing,
  };
  await expect(restorer.restoreLogLines(lines, stranger)).rejects.toMatchObject({ reason: "not_found" });
  await expect(restorer.restoreLogLines({ ...lines, name: "" }, callOf(tenant))).rejects.toMatchObject({
    reason: "bad_request",
  });
  await expect(restorer.restoreAttributes({ name, runId, attributes: [] }, stranger)).rejects.toMatchObject({
    reason: "not_found",
  });
});
