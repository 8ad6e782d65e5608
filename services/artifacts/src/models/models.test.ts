import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MODELS, TEXT_TAGS } from "@tidemark/limits";
import { type ArtifactsFixture, callOf, startArtifacts, storageOf, type Tenant } from "../artifacts.fixture.ts";
import { removeArtifacts } from "../removal/remove-artifacts.ts";

let fixture: ArtifactsFixture;
beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

async function makeModel(tenant: Tenant, fields: Parameters<ArtifactsFixture["models"]["createModel"]>[0] = {}) {
  const { model } = await fixture.models.createModel(
    { projectId: tenant.projectId, name: "model", ...fields },
    callOf(tenant),
  );
  return model!;
}

async function putFile(tenant: Tenant, modelId: string, path: string, content?: string) {
  const object = await fixture.written(tenant, content);
  return fixture.models.storeModelFile({ modelId, path, mimeType: "text/plain", object }, callOf(tenant));
}

test("a model is made, changed, read and deleted", async () => {
  const tenant = await fixture.newTenant();
  const call = callOf(tenant);
  const sourceRunId = await fixture.newRun(tenant);
  const made = await makeModel(tenant, { type: "sklearn", sourceRunId, params: { a: "1" }, tags: { x: "é", y: "" } });
  expect(made).toMatchObject({ status: "pending", sourceRunId, type: "sklearn", params: { a: "1" }, metrics: [] });
  const change = {
    modelId: made.id,
    status: "ready",
    setTags: { x: "2" },
    removedTags: ["y"],
    params: { a: "1", b: "2" },
  };
  const { model } = await fixture.models.updateModel(change, call);
  expect(model).toMatchObject({ status: "ready", tags: { x: "2" }, params: { a: "1", b: "2" } });
  expect(Date.parse(model!.updatedAt)).toBeGreaterThan(Date.parse(made.updatedAt));
  expect((await fixture.models.getModel({ modelId: made.id }, call)).model).toEqual(model);
  await fixture.models.deleteModel({ modelId: made.id }, call);
  for (const asking of [
    fixture.models.getModel({ modelId: made.id }, call),
    fixture.models.deleteModel({ modelId: made.id }, call),
  ]) {
    expect(await failure(asking)).toMatchObject({ reason: "not_found", message: "model not found" });
  }
});

describe("a refused request changes nothing", () => {
  const long = (bytes: number) => "x".repeat(bytes + 1);
  test.each([
    ["no name", { name: "" }],
    ["a long name", { name: long(MODELS.nameBytesMax) }],
    ["NUL", { name: "a\0" }],
    ["a long type", { type: long(MODELS.typeBytesMax) }],
    ["an empty key", { params: { "": "x" } }],
    ["a long key", { tags: { [long(TEXT_TAGS.keyBytesMax)]: "x" } }],
    ["a long value", { tags: { a: long(TEXT_TAGS.valueBytesMax) } }],
    ["NUL in a tag", { tags: { a: "\0" } }],
    [
      "too many texts",
      {
        params: Object.fromEntries(
          Array.from({ length: 40 }, (_, i) => [`p${i}`, "x".repeat(TEXT_TAGS.valueBytesMax)]),
        ),
      },
    ],
  ])("a new model with %s is 400", async (_what, fields) => {
    const tenant = await fixture.newTenant();
    expect(await failure(makeModel(tenant, fields))).toMatchObject({ reason: "bad_request" });
    expect(await fixture.ask("SELECT FROM artifacts.models WHERE org_id = $1", tenant.orgId)).toEqual([]);
  });

  test.each([
    ["another value of a param", { params: { a: "2" } }, "bad_request"],
    ["an unknown status", { status: "pending" }, "bad_request"],
    ["a missing tag that is to go", { removedTags: ["none"] }, "not_found"],
  ])("%s", async (_what, change, reason) => {
    const tenant = await fixture.newTenant();
    const before = await makeModel(tenant, { params: { a: "1" } });
    const asking = fixture.models.updateModel({ modelId: before.id, setTags: { new: "1" }, ...change }, callOf(tenant));
    expect(await failure(asking)).toMatchObject({ reason });
    expect((await fixture.models.getModel({ modelId: before.id }, callOf(tenant))).model).toEqual(before);
  });

  test("missing projects and runs, other projects, and unpaid organizations", async () => {
    const tenant = await fixture.newTenant();
    const other = await fixture.newProject(tenant.orgId);
    const { id: modelId } = await makeModel(tenant);
    const runId = await fixture.newRun(tenant);
    expect(await failure(makeModel({ ...tenant, projectId: randomUUID() }))).toMatchObject({ reason: "not_found" });
    expect(await failure(makeModel(tenant, { sourceRunId: randomUUID() }))).toMatchObject({ reason: "not_found" });
    const object = await fixture.written(tenant);
    const points = [{ modelId, metric: { key: "k" } }];
    for (const [call, reason] of [
      [callOf(tenant, { projectId: other }), "not_found"],
      [callOf(await fixture.newTenant()), "not_found"],
      [callOf(tenant, { billingState: "canceled" }), "payment_required"],
    ] as const) {
      for (const asking of [
        fixture.models.createModel({ projectId: tenant.projectId, name: "m" }, call),
        fixture.models.updateModel({ modelId, status: "ready" }, call),
        fixture.models.reserveModelObjects({ modelId, count: 1 }, call),
        fixture.models.storeModelFile({ modelId, path: "a", mimeType: "m", object }, call),
        fixture.models.logModelMetrics({ runId, points }, call),
      ]) {
        expect(await failure(asking)).toMatchObject({ reason });
      }
    }
    const stranger = callOf(tenant, { projectId: other });
    for (const asking of [
      fixture.models.getModel({ modelId }, stranger),
      fixture.models.listModelFiles({ modelId }, stranger),
      fixture.models.locateModelFile({ modelId, path: "a" }, stranger),
      fixture.models.deleteModelFiles({ modelId }, stranger),
      fixture.models.deleteModel({ modelId }, stranger),
    ]) {
      expect(await failure(asking)).toMatchObject({ reason: "not_found" });
    }
    await fixture.ask(
      "UPDATE runs.projects SET deleted_at = now(), purge_after = now() WHERE id = $1",
      tenant.projectId,
    );
    expect(await failure(fixture.models.getModel({ modelId }, callOf(tenant)))).toMatchObject({ reason: "not_found" });
  });
});

test("files of a model are replaced, listed by folder, located and deleted; storage counts them", async () => {
  const tenant = await fixture.newTenant();
  const call = callOf(tenant);
  const { id: modelId } = await makeModel(tenant);
  const { objectIds } = await fixture.models.reserveModelObjects({ modelId, count: 2, bytes: 10n }, call);
  expect(objectIds).toHaveLength(2);
  for (const count of [0, 65]) {
    expect(await failure(fixture.models.reserveModelObjects({ modelId, count }, call))).toMatchObject({
      reason: "bad_request",
    });
  }
  await putFile(tenant, modelId, "a/b.txt", "first");
  await putFile(tenant, modelId, "a/b.txt", "second one");
  await putFile(tenant, modelId, "a/c/d", "second one");
  await putFile(tenant, modelId, "a.b", "x");
  const list = async (folder: string) =>
    (await fixture.models.listModelFiles({ modelId, folder }, call)).files.map(({ path, sizeBytes }) => [
      path,
      sizeBytes,
    ]);
  expect(await list("")).toEqual([
    ["a.b", 1n],
    ["a/b.txt", 10n],
    ["a/c/d", 10n],
  ]);
  expect(await list("a/c")).toEqual([["a/c/d", 10n]]);
  const place = await fixture.models.locateModelFile({ modelId, path: "a/c/d" }, call);
  expect(place).toMatchObject({ sizeBytes: 10n, mimeType: "text/plain" });
  expect(await failure(fixture.models.locateModelFile({ modelId, path: "a/c" }, call))).toMatchObject({
    reason: "not_found",
  });
  const { counters, counted } = await storageOf(fixture, tenant);
  expect(counters).toEqual(counted);
  expect(counters).toMatchObject({ artifacts: 3, artifact_bytes: 21, pending_delete_bytes: 5 });
  expect(await fixture.models.deleteModelFiles({ modelId, path: "a" }, call)).toMatchObject({ deleted: 2 });
  expect(await fixture.models.deleteModelFiles({ modelId, path: "a" }, call)).toMatchObject({ deleted: 0 });
  expect(await list("")).toEqual([["a.b", 1n]]);
  await fixture.models.deleteModel({ modelId }, call);
  const after = await storageOf(fixture, tenant);
  expect(after.counters).toEqual(after.counted);
  expect(after.counters).toMatchObject({ artifacts: 0, artifact_bytes: 0 });
});

test("a file without path, type or object, or beyond the number of files, is 400", async () => {
  const tenant = await fixture.newTenant();
  const call = callOf(tenant);
  const { id: modelId } = await makeModel(tenant);
  const object = await fixture.written(tenant);
  for (const wrong of [{ path: "" }, { path: "x".repeat(1025) }, { mimeType: "" }, { object: undefined }]) {
    const asking = fixture.models.storeModelFile({ modelId, path: "a", mimeType: "m", object, ...wrong }, call);
    expect(await failure(asking)).toMatchObject({ reason: "bad_request" });
  }
  await putFile(tenant, modelId, "known");
  await fixture.ask("UPDATE artifacts.models SET files = $2 WHERE id = $1", modelId, MODELS.filesMax);
  expect(await failure(putFile(tenant, modelId, "another"))).toMatchObject({ reason: "bad_request", field: "path" });
  await putFile(tenant, modelId, "known");
});

test("of a metric of a model the newest value is kept, by run and dataset", async () => {
  const tenant = await fixture.newTenant();
  const call = callOf(tenant);
  const { id: modelId } = await makeModel(tenant);
  const [runId, otherRun] = [await fixture.newRun(tenant), await fixture.newRun(tenant)];
  const point = (step: number, timeMs: number, value: number, datasetName = "") => ({
    modelId,
    metric: { key: "loss", step: BigInt(step), timeMs: BigInt(timeMs), value, datasetName },
  });
  const log = (run: string, ...points: ReturnType<typeof point>[]) =>
    fixture.models.logModelMetrics({ runId: run, points }, call);
  await log(runId, point(2, 5, 0.5), point(1, 9, 7), point(2, 6, 0.25), point(2, 6, 0.125));
  await log(runId, point(2, 6, 0.1), point(0, 99, 1));
  await log(runId, point(1, 1, Number.NaN, "test"), point(1, 1, Infinity, "test"));
  await log(otherRun, point(0, 0, -Infinity));
  const { model } = await fixture.models.getModel({ modelId }, call);
  const byRun = (run: string) =>
    model!.metrics
      .filter((metric) => metric.runId === run)
      .map(({ value, step, datasetName }) => [datasetName, step, value]);
  expect(byRun(runId)).toEqual([
    ["", 2n, 0.25],
    ["test", 1n, Number.NaN],
  ]);
  expect(byRun(otherRun)).toEqual([["", 0n, -Infinity]]);
  for (const points of [
    [],
    [{ modelId, metric: { key: "" } }],
    [{ modelId }],
    [{ modelId, metric: { key: "k", step: -1n } }],
    [{ modelId, metric: { key: "k", step: 2n ** 53n } }],
    [{ modelId, metric: { key: "k", timeMs: -1n } }],
    Array.from({ length: MODELS.pointsMax + 1 }, () => point(0, 0, 0)),
    Array.from({ length: MODELS.metricsMax }, (_, i) => ({ modelId, metric: { key: `k${i}` } })),
  ]) {
    expect(await failure(fixture.models.logModelMetrics({ runId, points }, call))).toMatchObject({
      reason: "bad_request",
    });
  }
  for (const unknown of ["x", randomUUID()]) {
    const points = [{ modelId: unknown, metric: { key: "k" } }];
    expect(await failure(fixture.models.logModelMetrics({ runId, points }, call))).toMatchObject({
      reason: "not_found",
    });
  }
  expect((await fixture.models.getModel({ modelId }, call)).model).toEqual(model);
});

describe("a removal", () => {
  const rowsOf = async ({ orgId }: Tenant) => {
    const [row] = await fixture.ask(
      `SELECT (SELECT count(*) FROM artifacts.models WHERE org_id = $1) AS models,
              (SELECT count(*) FROM artifacts.model_files WHERE org_id = $1) AS files,
              (SELECT count(*) FROM artifacts.model_metrics WHERE org_id = $1) AS metrics`,
      orgId,
    );
    return row;
  };
  const filled = async () => {
    const tenant = await fixture.newTenant();
    const runId = await fixture.newRun(tenant);
    for (const sourceRunId of [runId, undefined]) {
      const { id: modelId } = await makeModel(tenant, sourceRunId === undefined ? {} : { sourceRunId });
      await putFile(tenant, modelId, "f");
      const points = [{ modelId, metric: { key: "k" } }];
      await fixture.models.logModelMetrics({ runId, points }, callOf(tenant));
    }
    return { tenant, runId };
  };

  test("of a run takes its models, and the metrics that it logged for others", async () => {
    const { tenant, runId } = await filled();
    await removeArtifacts(fixture.db, { orgId: tenant.orgId, kind: "run", id: runId, projectId: tenant.projectId });
    expect(await rowsOf(tenant)).toEqual({ models: 1, files: 1, metrics: 0 });
    const { counters, counted } = await storageOf(fixture, tenant);
    expect(counters).toEqual(counted);
  });

  test.each(["project", "organization"] as const)("of %s takes all", async (kind) => {
    const { tenant } = await filled();
    const id = kind === "project" ? tenant.projectId : tenant.orgId;
    await removeArtifacts(fixture.db, { orgId: tenant.orgId, kind, id, projectId: null });
    expect(await rowsOf(tenant)).toEqual({ models: 0, files: 0, metrics: 0 });
  });
});
