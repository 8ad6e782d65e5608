import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";

import {
  callOf,
  columnsOf,
  startIngest,
  type IngestFixture,
  type MetricWriting,
  type Tenant,
} from "../../ingest.fixture.ts";
import { expectStored, pointOf, storedRun } from "./stored-run.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runIds: string[];

beforeAll(async () => {
  ingest = await startIngest();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  tenant = await ingest.newTenant();
  runIds = await Promise.all(Array.from({ length: 6 }, () => ingest.newRun(tenant)));
});

const processWith = (writing: MetricWriting = {}) => ingest.writer(undefined, writing);

/** Notes the groups of a writer. */
const groupsOf = () => {
  const groups: number[] = [];
  let refused = 0;
  return {
    groups,
    refused: () => refused,
    metrics: { metricGroup: (writes: number) => void groups.push(writes), metricsRefused: () => void (refused += 1) },
  };
};

describe("simultaneous writes", () => {
  test("share a commit, up to 64 of them", async () => {
    const { groups, metrics } = groupsOf();
    const writer = processWith({ metrics });
    for (const runId of runIds) await writer.appendMetrics(pointOf(runId), callOf(tenant));
    groups.length = 0;
    await Promise.all(
      Array.from({ length: 70 }, (_, i) => writer.appendMetrics(pointOf(runIds[i % 6]!, i), callOf(tenant))),
    );
    expect(groups.toSorted((a, b) => b - a)).toEqual([64, 6]);
    await expectStored(ingest, runIds[0]!, 13);
  });

  test("of different organizations do not", async () => {
    const { groups, metrics } = groupsOf();
    const writer = processWith({ metrics });
    const other = await ingest.newTenant();
    const theirs = await ingest.newRun(other);
    const writes = () =>
      Promise.all([
        writer.appendMetrics(pointOf(runIds[0]!), callOf(tenant)),
        writer.appendMetrics(pointOf(theirs), callOf(other)),
      ]);
    await writes();
    groups.length = 0;
    await writes();
    expect(groups).toEqual([1, 1]);
    await expectStored(ingest, theirs, 2);
  });

  test("are stored in the order in which they came", async () => {
    const runId = runIds[0]!;
    const writer = processWith();
    await writer.appendMetrics(pointOf(runId, 0, "loss", -1), callOf(tenant));
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => writer.appendMetrics(pointOf(runId, 0, "loss", i), callOf(tenant))),
    );
    const { keys } = await ingest.read.listMetricPoints({ runId, limit: 200 }, callOf(tenant));
    expect([...keys[0]!.points!.values]).toEqual(Array.from({ length: 101 }, (_, i) => i - 1));
  });

  test("may have the same new key, and each its own", async () => {
    const runId = runIds[0]!;
    const writer = processWith();
    await Promise.all(
      Array.from({ length: 90 }, (_, i) =>
        writer.appendMetrics({ runId, columns: columnsOf([i, { common: i, [`own${i}`]: i }]) }, callOf(tenant)),
      ),
    );
    expect(await storedRun(ingest, runId)).toMatchObject({ keyCount: 91, keys: 91, values: 180, version: 90 });
    const ids = testSql("SELECT key_id AS id FROM ingest.metric_keys WHERE run_id = $1 ORDER BY 1");
    const found = await ingest.owner.rows<{ id: number }>(ids, [runId]);
    expect(found.map(({ id }) => id)).toEqual(Array.from({ length: 91 }, (_, i) => i));
  });

  test("are answered each for itself when some are repeats or have a key of another request", async () => {
    const writer = processWith();
    const idempotencyKey = randomUUID();
    await writer.appendMetrics({ ...pointOf(runIds[0]!), idempotencyKey }, callOf(tenant));
    const answers = await Promise.allSettled([
      writer.appendMetrics({ ...pointOf(runIds[0]!), idempotencyKey }, callOf(tenant)),
      writer.appendMetrics({ ...pointOf(runIds[1]!), idempotencyKey: randomUUID() }, callOf(tenant)),
      writer.appendMetrics(pointOf(runIds[0]!, 2), callOf(tenant)),
    ]);
    expect(answers).toMatchObject([
      { status: "fulfilled", value: { inserted: 1, replayed: true } },
      { status: "fulfilled", value: { inserted: 1, replayed: false } },
      { status: "fulfilled", value: { inserted: 1, replayed: false } },
    ]);
    const reused = { ...pointOf(runIds[2]!), idempotencyKey };
    const others = await Promise.allSettled([
      writer.appendMetrics(reused, callOf(tenant)),
      writer.appendMetrics(pointOf(runIds[2]!), callOf(tenant)),
    ]);
    expect(others).toMatchObject([
      { status: "rejected", reason: { reason: "idempotency_key_reused" } },
      { status: "fulfilled" },
    ]);
    await expectStored(ingest, runIds[0]!, 2);
    await expectStored(ingest, runIds[2]!, 1);
  });

  test("with one key: one is stored, its repeats get its answer, another request is refused", async () => {
    const writer = processWith();
    const idempotencyKey = randomUUID();
    const [runId, other] = [runIds[0]!, runIds[1]!];
    // A known run is not looked up, so that writes arrive as they are sent.
    for (const id of [runId, other]) await writer.appendMetrics(pointOf(id), callOf(tenant));
    const answers = await Promise.allSettled([
      writer.appendMetrics({ ...pointOf(runId), idempotencyKey }, callOf(tenant)),
      writer.appendMetrics({ ...pointOf(runId), idempotencyKey }, callOf(tenant)),
      writer.appendMetrics({ ...pointOf(other), idempotencyKey }, callOf(tenant)),
    ]);
    expect(answers).toMatchObject([
      { status: "fulfilled", value: { replayed: false } },
      { status: "fulfilled", value: { replayed: true } },
      { status: "rejected", reason: { reason: "idempotency_key_reused" } },
    ]);
    await expectStored(ingest, runId, 2);
    await expectStored(ingest, other, 1);
  });

  test("with one key: when the first cannot be stored, the next has its turn", async () => {
    const occupy = testSql("INSERT INTO ingest.metric_segments VALUES ($1, $2, 2, 0, 0, 0, '')");
    const writer = processWith();
    for (const runId of runIds) await writer.appendMetrics(pointOf(runId), callOf(tenant));
    await ingest.owner.rows(occupy, [tenant.orgId, runIds[0]!]);
    const idempotencyKey = randomUUID();
    const answers = await Promise.allSettled([
      writer.appendMetrics({ ...pointOf(runIds[0]!), idempotencyKey }, callOf(tenant)),
      writer.appendMetrics({ ...pointOf(runIds[1]!), idempotencyKey }, callOf(tenant)),
    ]);
    expect(answers).toMatchObject([
      { status: "rejected", reason: { code: "23505" } },
      { status: "fulfilled", value: { replayed: false } },
    ]);
  });
});

describe("markers for the compactor", () => {
  const marksOf = testSql(
    "SELECT id FROM ingest.dirty_markers WHERE kind = 'metrics' AND part = '' AND run_id = $1 ORDER BY id",
  );
  const marked = async (runId: string) =>
    (await ingest.owner.rows<{ id: number }>(marksOf, [runId])).map(({ id }) => id);
  /** Every third write of each run leaves a marker, beginning with the first. */
  const everyThird = () => {
    const counts = new Map<string, number>();
    return {
      next: (runId: string) => {
        const count = counts.get(runId) ?? 0;
        counts.set(runId, count + 1);
        return count % 3 === 0 ? 0 : null;
      },
      forget: (runId: string) => void counts.delete(runId),
    };
  };

  test("are left by the writes that are told to, with the number of their landing segment", async () => {
    const [runId] = runIds as [string];
    const writer = processWith({ markers: everyThird() });
    for (let step = 0; step < 3; step++) await writer.appendMetrics(pointOf(runId, step), callOf(tenant));
    await Promise.all([3, 4, 5, 6].map((step) => writer.appendMetrics(pointOf(runId, step), callOf(tenant))));
    expect(await marked(runId)).toEqual([1, 4, 7]);
  });

  test("are left by another write when the one that was to leave it is a repeat, or cannot be stored", async () => {
    const [repeated, failing] = runIds as [string, string];
    const idempotencyKey = randomUUID();
    await processWith({ markers: { next: () => null, forget: () => {} } }).appendMetrics(
      { ...pointOf(repeated), idempotencyKey },
      callOf(tenant),
    );
    const writer = processWith({ markers: everyThird() });
    await Promise.all(runIds.slice(2).map((runId) => writer.appendMetrics(pointOf(runId), callOf(tenant))));
    const taken = testSql("INSERT INTO ingest.metric_segments VALUES ($1, $2, 1, 0, 0, 0, '')");
    await ingest.owner.rows(taken, [tenant.orgId, failing]);
    const writes = [
      writer.appendMetrics({ ...pointOf(repeated), idempotencyKey }, callOf(tenant)),
      writer.appendMetrics(pointOf(repeated, 1), callOf(tenant)),
      writer.appendMetrics(pointOf(failing), callOf(tenant)),
    ];
    expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
    expect(await marked(repeated)).toEqual([2]);
    const vacate = testSql("DELETE FROM ingest.metric_segments WHERE run_id = $1");
    await ingest.owner.rows(vacate, [failing]);
    await writer.appendMetrics(pointOf(failing), callOf(tenant));
    expect(await marked(failing)).toEqual([1]);
  });
});

describe("the queue", () => {
  test("is bounded: a write beyond it is refused with a hint to retry, and nothing of it is stored", async () => {
    const { metrics, refused } = groupsOf();
    const writer = processWith({ queueBytes: 5_000, metrics });
    for (const runId of runIds) await writer.appendMetrics(pointOf(runId), callOf(tenant));
    const answers = await Promise.allSettled(
      runIds.map((runId) => writer.appendMetrics(pointOf(runId, 1), callOf(tenant))),
    );
    const refusals = answers.filter((answer) => answer.status === "rejected");
    expect(refusals).toHaveLength(3);
    for (const { reason } of refusals) {
      expect(reason).toMatchObject({ reason: "service_unavailable", retryAfterSeconds: 1 });
    }
    expect(refused()).toBe(3);
    for (const [i, runId] of runIds.entries())
      await expectStored(ingest, runId, answers[i]!.status === "fulfilled" ? 2 : 1);
    // As soon as there is space again, no matter how large the write is.
    const large = columnsOf([2, Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]))]);
    expect(await writer.appendMetrics({ runId: runIds[0]!, columns: large }, callOf(tenant))).toMatchObject({
      inserted: 1000,
    });
  });

  test("of one organization leaves room for others, and those have their writes stored", async () => {
    const other = await ingest.newTenant();
    const others = [await ingest.newRun(other), await ingest.newRun(other)];
    const writer = processWith({ queueBytes: 20_000 });
    // The writes of a known run wait without a look-up first.
    await writer.appendMetrics(pointOf(runIds[0]!), callOf(tenant));
    for (const runId of others) await writer.appendMetrics(pointOf(runId), callOf(other));
    const refusedOf = async (answers: readonly Promise<unknown>[]) =>
      (await Promise.allSettled(answers)).filter(({ status }) => status === "rejected").length;
    const many = Array.from({ length: 80 }, (_, i) => writer.appendMetrics(pointOf(runIds[0]!, i), callOf(tenant)));
    const neighbors = others.map((runId) => writer.appendMetrics(pointOf(runId), callOf(other)));
    const [refusedOfMany, refusedOfNeighbors] = await Promise.all([many, neighbors].map(refusedOf));
    expect(refusedOfNeighbors).toBe(0);
    expect(refusedOfMany).toBeGreaterThan(10);
  });

  test("includes repeats of writes that are on their way", async () => {
    const writer = processWith({ queueBytes: 4_000 });
    const request = { ...pointOf(runIds[0]!), idempotencyKey: randomUUID() };
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, () => writer.appendMetrics(request, callOf(tenant))),
    );
    expect(answers.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
    await expectStored(ingest, runIds[0]!, 1);
  });
});

test("a key that was used for console lines is refused", async () => {
  const idempotencyKey = randomUUID();
  const lines = [{ lineNumber: 0, message: "x" }];
  await ingest.write.appendLogLines({ runId: runIds[0]!, stream: "stdout", lines, idempotencyKey }, callOf(tenant));
  await expect(
    ingest.write.appendMetrics({ ...pointOf(runIds[0]!), idempotencyKey }, callOf(tenant)),
  ).rejects.toMatchObject({ reason: "idempotency_key_reused" });
});

test("a memory that holds next to nothing changes nothing but the time it takes", async () => {
  const [runId] = runIds as [string];
  const writer = processWith({ cacheBytes: 1 });
  const counts = new Map<string, number>();
  for (let n = 0; n < 30; n++) {
    const keys = Array.from({ length: 20 }, (_, i) => `k${(n * 13 + i * 7) % 150}`);
    for (const key of new Set(keys)) counts.set(key, (counts.get(key) ?? 0) + 1);
    await writer.appendMetrics(
      { runId, columns: columnsOf([n, Object.fromEntries(keys.map((key) => [key, n]))]) },
      callOf(tenant),
    );
  }
  const aggregates = testSql("SELECT key, count, latest FROM ingest.metric_aggregates_v1 WHERE run_id = $1");
  const found = await ingest.owner.rows<{ key: string; count: number }>(aggregates, [runId]);
  expect(new Map(found.map(({ key, count }) => [key, count]))).toEqual(counts);
});
