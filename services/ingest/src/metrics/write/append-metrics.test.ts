import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";

import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  tenant = await ingest.newTenant();
  runId = await ingest.newRun(tenant);
});

const countRows = testSql(`SELECT (SELECT count(*) FROM ingest.metric_segments WHERE run_id = $1) AS landing,
          (SELECT coalesce(sum(count), 0)::bigint FROM ingest.metric_aggregates_v1 WHERE run_id = $1) AS values,
          (SELECT count(*) FROM platform.idempotency_0 WHERE org_id = $2)
            + (SELECT count(*) FROM platform.idempotency_1 WHERE org_id = $2)
            + (SELECT count(*) FROM platform.idempotency_2 WHERE org_id = $2) AS keys`);
const stored = () => ingest.owner.one(countRows, [runId, tenant.orgId]);

/** A landing segment with the number that the next write to the run takes. */
const occupy =
  testSql(`INSERT INTO ingest.metric_segments (org_id, run_id, id, received_us, first_step, last_step, points)
   VALUES ($1, $2, $3, 0, 0, 0, '')`);
const vacate = testSql("DELETE FROM ingest.metric_segments WHERE run_id = $1 AND id = $2");

const point = (step = 0, value = 1) => ({ runId, columns: columnsOf([step, { loss: value }]) });

describe("a write of metric points", () => {
  test("continues after the run has finished", async () => {
    await ingest.finishRun(runId);
    expect(await ingest.write.appendMetrics(point(), callOf(tenant))).toMatchObject({ inserted: 1 });
  });

  test("that fails leaves nothing behind, and its key free", async () => {
    await ingest.write.appendMetrics(point(), callOf(tenant));
    await ingest.owner.rows(occupy, [tenant.orgId, runId, 2]);
    const second = { ...point(1, 5), idempotencyKey: randomUUID() };
    await expect(ingest.write.appendMetrics(second, callOf(tenant))).rejects.toMatchObject({ code: "23505" });
    expect(await stored()).toMatchObject({ landing: 2, values: 1, keys: 0 });
    await ingest.owner.rows(vacate, [runId, 2]);
    expect(await ingest.write.appendMetrics(second, callOf(tenant))).toMatchObject({ inserted: 1, replayed: false });
    expect(await stored()).toMatchObject({ landing: 2, values: 2, keys: 1 });
  });

  test("that fails takes none of those with it that came at the same time", async () => {
    const runIds = await Promise.all(Array.from({ length: 8 }, () => ingest.newRun(tenant)));
    await ingest.owner.rows(occupy, [tenant.orgId, runIds[3]!, 1]);
    const answers = await Promise.allSettled(
      runIds.map((id) =>
        ingest.write.appendMetrics({ ...point(), runId: id, idempotencyKey: randomUUID() }, callOf(tenant)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(runIds.map((_, i) => (i === 3 ? "rejected" : "fulfilled")));
  });
});

describe("an idempotency key", () => {
  test("lets one of 30 concurrent sends through and gives all the same answer", async () => {
    const request = { runId, columns: columnsOf([1, { a: 1, b: 2 }]), idempotencyKey: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => ingest.write.appendMetrics(request, callOf(tenant))),
    );
    expect(answers.map(({ inserted }) => inserted)).toEqual(Array.from({ length: 30 }, () => 2));
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await stored()).toMatchObject({ landing: 1, values: 2, keys: 1 });
  });

  test("gives a large count back as it was", async () => {
    const metrics = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key_${i}`, i]));
    const points = Array.from({ length: 70 }, (_, step) => [step, metrics] as const);
    const request = { runId, batch: true, columns: columnsOf(...points), idempotencyKey: randomUUID() };
    await ingest.write.appendMetrics(request, callOf(tenant));
    const again = await ingest.write.appendMetrics(request, callOf(tenant));
    expect(again).toMatchObject({ inserted: 70_000, replayed: true });
  });

  test("counts the same body with its keys in another order as the same", async () => {
    const idempotencyKey = randomUUID();
    const send = (metrics: Record<string, number>) =>
      ingest.write.appendMetrics({ runId, columns: columnsOf([1, metrics]), idempotencyKey }, callOf(tenant));
    await send({ a: 1, b: 2 });
    expect(await send({ b: 2, a: 1 })).toMatchObject({ inserted: 2, replayed: true });
  });

  test.each([
    ["another value", { columns: columnsOf([0, { loss: 2 }]) }],
    ["another step", { columns: columnsOf([1, { loss: 1 }]) }],
    ["another key", { columns: columnsOf([0, { lost: 1 }]) }],
    ["a time", { columns: columnsOf([0, { loss: 1 }, 5]) }],
    ["the other route", { batch: true }],
  ])("is refused with %s", async (_, change) => {
    const request = { ...point(), idempotencyKey: randomUUID() };
    await ingest.write.appendMetrics(request, callOf(tenant));
    await expect(ingest.write.appendMetrics({ ...request, ...change }, callOf(tenant))).rejects.toMatchObject({
      reason: "idempotency_key_reused",
    });
    expect(await stored()).toMatchObject({ landing: 1, values: 1 });
  });

  test("is refused with another run", async () => {
    const request = { ...point(), idempotencyKey: randomUUID() };
    await ingest.write.appendMetrics(request, callOf(tenant));
    const other = await ingest.newRun(tenant);
    await expect(ingest.write.appendMetrics({ ...request, runId: other }, callOf(tenant))).rejects.toMatchObject({
      reason: "idempotency_key_reused",
    });
  });

  test("belongs to one organization", async () => {
    const request = { ...point(), idempotencyKey: randomUUID() };
    await ingest.write.appendMetrics(request, callOf(tenant));
    const stranger = await ingest.newTenant();
    const theirs = { ...request, runId: await ingest.newRun(stranger) };
    expect(await ingest.write.appendMetrics(theirs, callOf(stranger))).toMatchObject({ replayed: false });
  });

  test("shows its answer to no caller who may not see the run", async () => {
    const request = { ...point(), idempotencyKey: randomUUID() };
    await ingest.write.appendMetrics(request, callOf(tenant));
    const elsewhere = callOf(tenant, await ingest.newProject(tenant.orgId));
    for (const writer of [ingest.write, ingest.writer()]) {
      await expect(writer.appendMetrics(request, elsewhere)).rejects.toMatchObject({ reason: "not_found" });
    }
  });

  test("that another request holds is reported as in progress", async () => {
    const request = { ...point(), idempotencyKey: randomUUID() };
    const hold = testSql(
      "SELECT pg_advisory_xact_lock(hashtextextended(encode(substring(sha256($1) FOR 16), 'hex') || $2, 0))",
    );
    const length = Buffer.alloc(4);
    length.writeUInt32LE(request.idempotencyKey.length);
    const hashed = Buffer.concat([length, Buffer.from(request.idempotencyKey)]);
    await ingest.owner.transaction(async (tx) => {
      await tx.rows(hold, [hashed, tenant.orgId]);
      await expect(ingest.write.appendMetrics(request, callOf(tenant))).rejects.toMatchObject({
        reason: "idempotency_in_progress",
        retryAfterSeconds: 1,
      });
    });
    expect(await ingest.write.appendMetrics(request, callOf(tenant))).toMatchObject({ replayed: false });
  });
});

describe("a run", () => {
  const fault = { text: "metrics is required", field: "metrics" };

  test.each([
    ["does not exist", () => randomUUID()],
    ["has an id that is not a UUID", () => "42"],
    ["is another organization's", async () => ingest.newRun(await ingest.newTenant())],
    [
      "lies in a project that the key does not see",
      async () => ingest.newRun(tenant, await ingest.newProject(tenant.orgId)),
    ],
  ])("that %s is not found, with any body", async (_, idOf) => {
    const hidden = await idOf();
    const call = callOf(tenant, tenant.projectId);
    const good = { runId: hidden, columns: columnsOf([0, { loss: 1 }]) };
    for (const request of [good, { runId: hidden, bodyFault: fault }]) {
      await expect(ingest.write.appendMetrics(request, call)).rejects.toMatchObject({
        reason: "not_found",
        message: "run not found",
      });
    }
  });

  test("that exists gets its body's fault reported", async () => {
    await expect(ingest.write.appendMetrics({ runId, bodyFault: fault }, callOf(tenant))).rejects.toMatchObject({
      reason: "bad_request",
      message: fault.text,
      field: fault.field,
    });
  });

  test("is found as soon as it exists, also by a process that did not find it before", async () => {
    const writer = ingest.writer();
    const request = { runId: randomUUID() as string, columns: columnsOf([0, { loss: 1 }]) };
    await expect(writer.appendMetrics(request, callOf(tenant))).rejects.toMatchObject({ reason: "not_found" });
    request.runId = await ingest.newRun(tenant);
    expect(await writer.appendMetrics(request, callOf(tenant))).toMatchObject({ inserted: 1 });
  });

  test("that was written to once is still hidden from other organizations and projects", async () => {
    await ingest.write.appendMetrics(point(), callOf(tenant));
    const strangers = [callOf(await ingest.newTenant()), callOf(tenant, await ingest.newProject(tenant.orgId))];
    for (const stranger of strangers) {
      await expect(ingest.write.appendMetrics(point(), stranger)).rejects.toMatchObject({ reason: "not_found" });
    }
    expect(await stored()).toMatchObject({ landing: 1 });
  });

  test("is known by its id in upper case", async () => {
    const request = { runId: runId.toUpperCase(), columns: columnsOf([0, { loss: 1 }]) };
    expect(await ingest.write.appendMetrics(request, callOf(tenant))).toMatchObject({ inserted: 1 });
  });
});

test("a call without credentials is refused", async () => {
  const call = { ...callOf(tenant), identity: undefined };
  await expect(ingest.write.appendMetrics(point(), call)).rejects.toMatchObject({ reason: "unauthenticated" });
});

test.each([
  ["missing columns", undefined],
  ["columns without values", columnsOf()],
  ["steps that are not finite", { ...columnsOf([0, { a: 1 }]), steps: [Infinity] }],
])("%s are refused", async (_, columns) => {
  await expect(
    ingest.write.appendMetrics({ runId, ...(columns === undefined ? {} : { columns }) }, callOf(tenant)),
  ).rejects.toMatchObject({ reason: "bad_request" });
});
