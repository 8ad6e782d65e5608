import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { claimKey, idempotencyHashes } from "@tidemark/pg";
import { AppendMetricsRequestSchema } from "@tidemark/proto/ingest/v1/ingest";
import { fromRefusal } from "@tidemark/rpc";
import { callOf, columnsOf, pairsOf, startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runId: string;
beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
  runId = await ingest.newRun(tenant);
});
afterAll(() => ingest.close());

const writeOf = (step: number, more: { runId?: string; idempotencyKey?: string } = {}) =>
  create(AppendMetricsRequestSchema, { runId, columns: columnsOf([step, { loss: step }]), ...more });
const append = async (writes: ReturnType<typeof writeOf>[]) =>
  (await ingest.write.appendMetricsTogether({ writes }, callOf(tenant))).outcomes.map(({ outcome }) => outcome);

describe("writes that share a call", () => {
  test("are stored in their order", async () => {
    const own = await ingest.newRun(tenant);
    const outcomes = await append([3, 3, 1].map((step) => writeOf(step, { runId: own })));
    expect(outcomes).toMatchObject([3, 3, 1].map(() => ({ case: "stored", value: { inserted: 1, replayed: false } })));
    const { keys } = await ingest.read.listMetricPoints({ runId: own, limit: 10 }, callOf(tenant));
    expect(pairsOf(keys[0]!.points)).toEqual([
      [1, 1],
      [3, 3],
      [3, 3],
    ]);
  });

  test("fail one by one", async () => {
    const [key, other] = [randomUUID(), randomUUID()];
    await append([writeOf(1, { idempotencyKey: key }), writeOf(1, { idempotencyKey: other })]);
    const outcomes = await append([
      writeOf(2),
      writeOf(2, { runId: randomUUID() }),
      create(AppendMetricsRequestSchema, { runId, bodyFault: { text: "step is required", field: "step" } }),
      writeOf(2, { idempotencyKey: key }),
      writeOf(1, { idempotencyKey: other }),
    ]);
    expect(outcomes.map((outcome) => outcome.case)).toEqual(["stored", "refused", "refused", "refused", "stored"]);
    const refusals = outcomes.flatMap((outcome) => (outcome.case === "refused" ? [fromRefusal(outcome.value)] : []));
    expect(refusals).toMatchObject([
      { reason: "not_found" },
      { reason: "bad_request", message: "step is required", field: "step" },
      { reason: "idempotency_key_reused" },
    ]);
    expect(outcomes[4]).toMatchObject({ value: { inserted: 1, replayed: true } });
  });

  test("do not wait for one whose key another process holds: that is returned, and waits when it is sent alone", async () => {
    const key = randomUUID();
    const hashes = idempotencyHashes({ key, route: "another", parts: [] });
    await append([writeOf(0)]);
    await ingest.db.withTenant(tenant.orgId, async (tx) => {
      await claimKey(tx, tenant.orgId, hashes);
      expect(await append([writeOf(5, { idempotencyKey: key }), writeOf(6)])).toMatchObject([
        { case: "alone", value: true },
        { case: "stored" },
      ]);
    });
    const alone = await ingest.write.appendMetrics(writeOf(5, { idempotencyKey: key }), callOf(tenant));
    expect(alone).toMatchObject({ inserted: 1, replayed: false });
  });

  test("with one key in one call: the second is sent back", async () => {
    const key = randomUUID();
    await append([writeOf(0)]);
    expect(await append([writeOf(7, { idempotencyKey: key }), writeOf(7, { idempotencyKey: key })])).toMatchObject([
      { case: "stored", value: { replayed: false } },
      { case: "alone" },
    ]);
  });

  test.each([0, 65])("must be 1 to 64, not %i", async (count) => {
    const writes = Array.from({ length: count }, () => writeOf(1));
    await expect(append(writes)).rejects.toMatchObject({ reason: "bad_request" });
  });
});
