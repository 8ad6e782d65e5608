import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AddRunInputsRequestSchema } from "@tidemark/proto/runs/v1/inputs";
import { DATASET_BYTES, RUN_INPUTS, TEXT_TAGS } from "@tidemark/limits";
import { removeRuns } from "../removal/remove-runs.ts";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const train = {
  name: "train",
  digest: "d1",
  sourceType: "s3",
  source: "s3://b/é",
  schema: "{}",
  profile: '{"rows":1}',
};

test("a run has its datasets and models once, in the order in which they came; tags of a dataset are added", async () => {
  const call = callAs();
  const { id: runId } = await makeRun(fixture.client, call);
  const [a, b] = [randomUUID(), randomUUID()];
  const first = { runId, datasets: [{ ...train, tags: { context: "train" } }], modelIds: [b, a, b.toUpperCase()] };
  await fixture.client.addRunInputs(first, call);
  await fixture.client.addRunInputs(first, call);
  const again = { ...train, source: "elsewhere", tags: { more: "1", context: "eval" } };
  await fixture.client.addRunInputs({ runId, datasets: [again, { ...train, digest: "d2" }] }, call);
  const made = [
    { modelId: a, step: 5n },
    { modelId: a, step: 7n },
    { modelId: a, step: 5n },
  ];
  for (const models of [made, made]) await fixture.client.addRunOutputs({ runId, models }, call);
  const { runs } = await fixture.client.listRunInputs({ runIds: [runId] }, call);
  expect(runs).toHaveLength(1);
  expect(runs[0]).toMatchObject({
    runId,
    datasets: [
      { ...train, tags: { context: "eval", more: "1" } },
      { ...train, digest: "d2", tags: {} },
    ],
    modelOutputs: made.slice(0, 2),
  });
  expect(runs[0]!.modelInputs.map(({ modelId }) => modelId).toSorted()).toEqual([a, b].toSorted());
});

test("several runs are read together, as many as fit in an answer", async () => {
  const call = callAs();
  const runs = [];
  for (let i = 0; i < 6; i += 1) runs.push((await makeRun(fixture.client, call)).id);
  const schema = "x".repeat(DATASET_BYTES.schema);
  for (const runId of runs) {
    const datasets = ["1", "2", "3"].map((digest) => ({ ...train, digest, schema }));
    await fixture.client.addRunInputs({ runId, datasets }, call);
  }
  const read = async (runIds: readonly string[]) =>
    (await fixture.client.listRunInputs({ runIds: [...runIds] }, call)).runs.map(({ runId }) => runId);
  expect(await read(runs)).toEqual(runs.slice(0, 5));
  expect(await read(runs.slice(5))).toEqual(runs.slice(5));
  const counted = await asOwner<{ bytes: number }>(
    fixture,
    "SELECT sum(bytes)::bigint AS bytes FROM platform.stored_bytes WHERE org_id = $1 AND kind = 'documents'",
    [call.orgId],
  );
  const stored = await asOwner<{ bytes: number }>(
    fixture,
    "SELECT sum(amount)::bigint AS bytes FROM runs.stored_rows_v1 WHERE org_id = $1",
    [call.orgId],
  );
  expect(counted).toEqual(stored);
  expect(stored[0]!.bytes).toBeGreaterThan(18 * DATASET_BYTES.schema);
});

describe("a refused request stores nothing", () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ ...train, digest: `n${i}` }));
  const ids = (count: number) => Array.from({ length: count }, () => randomUUID());
  test.each<[string, Omit<MessageInitShape<typeof AddRunInputsRequestSchema>, "runId" | "$typeName" | "$unknown">]>([
    ["no name", { datasets: [{ ...train, name: "" }] }],
    ["no digest", { datasets: [{ ...train, digest: "" }] }],
    ["NUL", { datasets: [{ ...train, profile: "a\0" }] }],
    ...Object.entries(DATASET_BYTES).map(
      ([field, max]) =>
        [`a long ${field}`, { datasets: [{ ...train, [field]: "x".repeat(max + 1) }] }] as [string, object],
    ),
    ["a tag without key", { datasets: [{ ...train, tags: { "": "x" } }] }],
    ["a long key of a tag", { datasets: [{ ...train, tags: { ["k".repeat(TEXT_TAGS.keyBytesMax + 1)]: "" } }] }],
    ["a long tag", { datasets: [{ ...train, tags: { a: "x".repeat(TEXT_TAGS.valueBytesMax + 1) } }] }],
    ["too many datasets together", { datasets: many(RUN_INPUTS.together + 1) }],
    [
      "too many tags",
      { datasets: [{ ...train, tags: Object.fromEntries(ids(TEXT_TAGS.max + 1).map((key) => [key, ""])) }] },
    ],
    [
      "too many bytes",
      { datasets: many(5).map((dataset) => ({ ...dataset, schema: "x".repeat(DATASET_BYTES.schema) })) },
    ],
    ["a model that is not named by a UUID", { datasets: [train], modelIds: ["x"] }],
    ["too many models together", { datasets: [train], modelIds: ids(RUN_INPUTS.together + 1) }],
  ])("%s is 400, of a missing run 404", async (_what, request) => {
    const call = callAs();
    const { id: runId } = await makeRun(fixture.client, call);
    const refused = await failure(fixture.client.addRunInputs({ runId, ...request }, call));
    expect(refused).toMatchObject({ reason: "bad_request" });
    const { runs } = await fixture.client.listRunInputs({ runIds: [runId] }, call);
    expect(runs[0]).toMatchObject({ datasets: [], modelInputs: [] });
    const missing = await failure(fixture.client.addRunInputs({ runId: randomUUID(), ...request }, call));
    expect(missing).toMatchObject({ reason: "not_found", message: "run not found" });
  });

  test.each([[-1n], [2n ** 53n]])("an output at step %s is 400", async (step) => {
    const call = callAs();
    const { id: runId } = await makeRun(fixture.client, call);
    const models = [{ modelId: randomUUID(), step }];
    expect(await failure(fixture.client.addRunOutputs({ runId, models }, call))).toMatchObject({
      reason: "bad_request",
      message: "step must be from 0 to 2^53 - 1",
    });
  });

  test("one dataset, input or output beyond the bound of a run is 400; repeats are not", async () => {
    const call = callAs();
    const { id: runId } = await makeRun(fixture.client, call);
    for (let from = 0; from < RUN_INPUTS.ofRunMax; from += RUN_INPUTS.together) {
      const modelIds = ids(RUN_INPUTS.together);
      const datasets = modelIds.map((digest) => ({ name: "n", digest }));
      await fixture.client.addRunInputs({ runId, datasets, modelIds }, call);
      await fixture.client.addRunOutputs({ runId, models: modelIds.map((modelId) => ({ modelId })) }, call);
    }
    const { runs } = await fixture.client.listRunInputs({ runIds: [runId] }, call);
    const { datasets, modelInputs, modelOutputs } = runs[0]!;
    expect([datasets.length, modelInputs.length, modelOutputs.length]).toEqual(Array(3).fill(RUN_INPUTS.ofRunMax));
    const known = { runId, datasets: [datasets[0]!], modelIds: [modelInputs[0]!.modelId] };
    await fixture.client.addRunInputs(known, call);
    const one = { modelId: randomUUID() };
    for (const asking of [
      fixture.client.addRunInputs({ runId, datasets: [train] }, call),
      fixture.client.addRunInputs({ runId, modelIds: [one.modelId] }, call),
      fixture.client.addRunOutputs({ runId, models: [one] }, call),
    ]) {
      expect(await failure(asking)).toMatchObject({ reason: "bad_request" });
    }
  });
});

test.each([
  ["none", []],
  ["too many", Array.from({ length: RUN_INPUTS.runsMax + 1 }, () => randomUUID())],
])("%s runs are not read", async (_what, runIds) => {
  expect(await failure(fixture.client.listRunInputs({ runIds }, callAs()))).toMatchObject({ reason: "bad_request" });
});

test("unpaid organizations add nothing, and strangers find no run", async () => {
  const call = callAs();
  const run = await makeRun(fixture.client, call, { project: "a" });
  const unpaid = callAs({ orgId: call.orgId, billingState: "canceled" });
  for (const asking of [
    fixture.client.addRunInputs({ runId: run.id, datasets: [train] }, unpaid),
    fixture.client.addRunOutputs({ runId: run.id, models: [{ modelId: randomUUID() }] }, unpaid),
  ]) {
    expect(await failure(asking)).toMatchObject({ reason: "payment_required" });
  }
  const { projectId: other } = await makeRun(fixture.client, call, { project: "b" });
  for (const stranger of [callAs(), callAs({ orgId: call.orgId, projectId: other })]) {
    for (const asking of [
      fixture.client.addRunInputs({ runId: run.id }, stranger),
      fixture.client.addRunOutputs({ runId: run.id }, stranger),
      fixture.client.listRunInputs({ runIds: [run.id] }, stranger),
    ]) {
      expect(await failure(asking)).toMatchObject({ reason: "not_found" });
    }
  }
});

test("what a run used and made is removed with it", async () => {
  const call = callAs();
  const { id: runId } = await makeRun(fixture.client, call);
  await fixture.client.addRunInputs({ runId, datasets: [train], modelIds: [randomUUID()] }, call);
  await fixture.client.deleteRun({ runId }, call);
  await asOwner(fixture, "UPDATE runs.runs SET purge_after = '-infinity' WHERE id = $1", [runId]);
  await removeRuns(fixture.owner, { orgId: call.orgId, kind: "run", id: runId, projectId: null });
  const left = await asOwner<{ rows: number }>(
    fixture,
    `SELECT (SELECT count(*) FROM runs.run_datasets WHERE run_id = $1) + (SELECT count(*) FROM runs.run_models WHERE run_id = $1) AS rows`,
    [runId],
  );
  expect(left).toEqual([{ rows: 0 }]);
});
