import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";

import { createPlanGate, type PlanGate } from "@tidemark/requests";
import { parsePlans } from "@tidemark/limits";
import { CallerKind, IdentitySchema } from "@tidemark/proto/common/v1/common";
import { createCall, type Call } from "@tidemark/rpc";
import { createLog } from "@tidemark/telemetry";
import { columnsOf, startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";
import { pointOf } from "./stored-run.fixture.ts";

// One file, because points and values of ranks share a quota.

const LIMIT = 10;

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;
let gate: PlanGate;
beforeAll(async () => {
  ingest = await startIngest();
});
afterAll(() => ingest.close());

const readUse = testSql(`SELECT month_points AS "monthPoints", points, series FROM ingest.usage_v1 WHERE org_id = $1`);
const useOf = async (orgId: string) =>
  (await ingest.owner.one<{ monthPoints: number; points: number; series: number }>(readUse, [orgId])) ?? {
    monthPoints: 0,
    points: 0,
    series: 0,
  };
const callOf = (orgId: string, billingState = "free_active"): Call =>
  createCall({
    timeoutMs: 600_000,
    identity: create(IdentitySchema, { orgId, kind: CallerKind.API_KEY, planTier: "free", billingState }),
  });
const newGate = () =>
  createPlanGate({
    target: "metric_points",
    plans: parsePlans(`{"free": {"metric_points": ${LIMIT}}}`),
    readUsed: async (orgId) => (await useOf(orgId)).monthPoints,
    nowMs: () => performance.now(),
    log: createLog({ level: "error", service: "test" }),
  });
const rankWrite = (values: number, idempotencyKey = "") => ({
  runId,
  keys: Array.from({ length: values }, (_, i) => `k${i}`),
  values: Array.from({ length: values }, () => 1),
  step: 0,
  rank: 0,
  worldSize: 1,
  localRank: 0,
  weight: 1,
  idempotencyKey,
});
/** A write of some values at one step. */
const write = (values: number, idempotencyKey = "") => ({
  runId,
  columns: columnsOf([0, Object.fromEntries(Array.from({ length: values }, (_, i) => [`k${i}`, i]))]),
  idempotencyKey,
});
const exceeded = { reason: "plan_limit_exceeded" };

beforeEach(async () => {
  tenant = await ingest.newTenant();
  runId = await ingest.newRun(tenant);
  gate = newGate();
});

describe("the count", () => {
  test("values of points and of ranks, and pairs of run and key", async () => {
    const call = callOf(tenant.orgId);
    const other = await ingest.newRun(tenant, await ingest.newProject(tenant.orgId));
    await ingest.write.appendMetrics(write(3), call);
    await ingest.write.appendMetrics(write(3), call);
    await ingest.write.appendMetrics(pointOf(other), call);
    await ingest.write.appendRankMetrics(rankWrite(2), call);
    expect(await useOf(tenant.orgId)).toEqual({ monthPoints: 9, points: 9, series: 4 });
  });

  test("repeats are not", async () => {
    const call = callOf(tenant.orgId);
    for (let i = 0; i < 3; i += 1) {
      await ingest.write.appendMetrics(write(2, "one"), call);
      await ingest.write.appendRankMetrics(rankWrite(2, "two"), call);
    }
    expect(await useOf(tenant.orgId)).toMatchObject({ monthPoints: 4, points: 4 });
  });

  test("a new month begins with nothing; what there was stays in the total", async () => {
    const call = callOf(tenant.orgId);
    await ingest.write.appendMetrics(write(3), call);
    await ingest.write.appendRankMetrics(rankWrite(2), call);
    for (const table of ["project_points", "rank_points"]) {
      const back = testSql(`UPDATE ingest.${table} SET month = (month - interval '1 month')::date WHERE org_id = $1`);
      await ingest.owner.count(back, [tenant.orgId]);
    }
    expect(await useOf(tenant.orgId)).toEqual({ monthPoints: 0, points: 5, series: 3 });
    for (let i = 0; i < 20; i += 1) await ingest.write.appendMetrics(write(1), call);
    for (let i = 0; i < 20; i += 1) await ingest.write.appendRankMetrics(rankWrite(1), call);
    // All values of a rank except the first replace the previous one.
    expect(await useOf(tenant.orgId)).toEqual({ monthPoints: 40, points: 26, series: 3 });
  });

  test("another organization's values are not seen", async () => {
    await ingest.write.appendMetrics(write(3), callOf(tenant.orgId));
    const stranger = await ingest.newTenant();
    const usage = ingest.poolOf("tidemark_usage");
    const all = testSql("SELECT points FROM ingest.usage_v1");
    expect(await usage.readTenant(stranger.orgId, (tx) => tx.rows(all, []))).toEqual([]);
    expect(await usage.readTenant(tenant.orgId, (tx) => tx.rows(all, []))).toEqual([{ points: 3 }]);
  });
});

describe("the quota of a month", () => {
  const limited = () => ingest.writer(undefined, { pointGate: gate });

  test("admits points up to the limit, refuses what would go beyond, and stores nothing of that", async () => {
    const call = callOf(tenant.orgId);
    const writer = limited();
    await writer.appendMetrics(write(LIMIT - 1), call);
    await expect(writer.appendMetrics(write(2), call)).rejects.toMatchObject(exceeded);
    await writer.appendMetrics(write(1), call);
    await expect(writer.appendMetrics(write(1), call)).rejects.toMatchObject(exceeded);
    expect(await useOf(tenant.orgId)).toMatchObject({ monthPoints: LIMIT });
  });

  test("is shared by values of ranks", async () => {
    const call = callOf(tenant.orgId);
    const writer = limited();
    await writer.appendRankMetrics(rankWrite(LIMIT - 1), call);
    await expect(writer.appendMetrics(write(2), call)).rejects.toMatchObject(exceeded);
    await expect(writer.appendRankMetrics(rankWrite(2), call)).rejects.toMatchObject(exceeded);
    expect(await useOf(tenant.orgId)).toMatchObject({ monthPoints: LIMIT - 1 });
  });

  test("does not keep a repeat from its answer", async () => {
    const call = callOf(tenant.orgId);
    const writer = limited();
    await writer.appendMetrics(write(5, "points"), call);
    await writer.appendRankMetrics(rankWrite(5, "ranks"), call);
    expect(await writer.appendMetrics(write(5, "points"), call)).toMatchObject({ inserted: 5, replayed: true });
    expect(await writer.appendRankMetrics(rankWrite(5, "ranks"), call)).toMatchObject({ inserted: 5, replayed: true });
    await expect(writer.appendMetrics(write(6, "points"), call)).rejects.toMatchObject({
      reason: "idempotency_key_reused",
    });
    await expect(writer.appendMetrics(write(5, "new"), call)).rejects.toMatchObject(exceeded);
  });

  test("a missing run and a bad body go before it", async () => {
    const call = callOf(tenant.orgId);
    const writer = limited();
    await writer.appendMetrics(write(LIMIT), call);
    const missing = randomUUID();
    await expect(writer.appendMetrics({ ...write(1), runId: missing }, call)).rejects.toMatchObject({
      reason: "not_found",
    });
    await expect(writer.appendRankMetrics({ ...rankWrite(1), runId: missing }, call)).rejects.toMatchObject({
      reason: "not_found",
    });
    await expect(writer.appendRankMetrics({ ...rankWrite(1), worldSize: 0 }, call)).rejects.toMatchObject({
      reason: "bad_request",
    });
  });

  test("several processes write no more than it together, when they write one after the other", async () => {
    const call = callOf(tenant.orgId);
    const writers = [1, 2, 3].map(() => ingest.writer(undefined, { pointGate: newGate() }));
    const outcomes = [];
    for (let i = 0; i < 30; i += 1) {
      const writing = writers[i % 3]!.appendMetrics(write(1), call);
      outcomes.push(
        await writing.then(
          () => "stored",
          () => "refused",
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { monthPoints } = await useOf(tenant.orgId);
    expect(outcomes.filter((outcome) => outcome === "stored")).toHaveLength(monthPoints);
    // Each of them finds out with the request after its own last one.
    expect(monthPoints).toBeLessThanOrEqual(LIMIT + 4);
  });
});

test.each(["checkout_pending", "read_only_payment_required", "canceled"])(
  "while a payment is due (%s), points and values of ranks are refused, and repeats get their answers",
  async (state) => {
    await ingest.write.appendMetrics(write(2, "points"), callOf(tenant.orgId));
    const due = callOf(tenant.orgId, state);
    const refused = { reason: "payment_required" };
    await expect(ingest.write.appendMetrics(write(1), due)).rejects.toMatchObject(refused);
    await expect(ingest.write.appendMetrics({ ...write(1), batch: true }, due)).rejects.toMatchObject(refused);
    await expect(ingest.write.appendRankMetrics(rankWrite(1), due)).rejects.toMatchObject(refused);
    expect(await ingest.write.appendMetrics(write(2, "points"), due)).toMatchObject({ replayed: true });
    expect(await useOf(tenant.orgId)).toMatchObject({ points: 2 });
  },
);
