import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  callOf,
  startArtifacts,
  type ArtifactsFixture,
  type Tenant,
  type TestCollection,
  type TestVersion,
} from "../artifacts.fixture.ts";

let fixture: ArtifactsFixture;
let tenant: Tenant;
let collection: TestCollection;

beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  collection = await fixture.newCollection(tenant);
});

const use = (runId: string, { id: versionId }: TestVersion) =>
  fixture.client.addInput({ runId, versionId }, callOf(tenant));

/** Stores a version that a new run made of others. */
async function make(of: readonly TestVersion[], from: TestCollection = collection): Promise<TestVersion> {
  const made = await fixture.storeVersion(tenant, from);
  for (const input of of) await use(made.runId, input);
  return made;
}

/** The graph of a version: hops by version and by run, and edges as pairs from what was used to what was made. */
async function graph({ id: versionId }: TestVersion, request: object = {}, call = callOf(tenant)) {
  const answer = await fixture.client.getLineageGraph({ versionId, ...request }, call);
  return {
    versions: Object.fromEntries(answer.versions.map(({ version, hop }) => [version!.id, hop])),
    runs: Object.fromEntries(answer.runs.map(({ runId, hop }) => [runId, hop])),
    edges: answer.edges
      .map(({ runId, versionId: id, direction }) => (direction === "output" ? [runId, id] : [id, runId]).join(" > "))
      .toSorted(),
    more: [...answer.versions, ...answer.runs].filter(({ more }) => more).length,
    answer,
  };
}

describe("the graph of a version", () => {
  test("has what it was made from and what was made from it, over several hops", async () => {
    const data = await make([]);
    const model = await make([data]);
    const scores = await make([model, data]);
    const found = await graph(model);
    expect(found).toMatchObject({
      versions: { [model.id]: 0, [data.id]: -2, [scores.id]: 2 },
      runs: { [model.runId]: -1, [data.runId]: -3, [scores.runId]: 1 },
      edges: [
        [data.runId, data.id],
        [data.id, model.runId],
        [model.runId, model.id],
        [model.id, scores.runId],
        [scores.runId, scores.id],
      ]
        .map((pair) => pair.join(" > "))
        .toSorted(),
      more: 0,
      answer: { hops: 4, limit: 20 },
    });
    const [row] = await fixture.ask<{ name: string }>("SELECT name FROM runs.projects WHERE id = $1", tenant.projectId);
    expect(found.answer.versions[0]).toMatchObject({
      version: { id: model.id, name: "policy", versionIndex: 1 },
      project: row!.name,
    });
    expect(found.answer.runs.find(({ runId }) => runId === model.runId)).toMatchObject({
      name: "a run",
      project: row!.name,
      status: "running",
      hop: -1,
    });
    // The scores were made of the data directly as well.
    expect((await graph(scores)).edges).toHaveLength(6);
  });

  test("ends at the hops, and has the newest neighbors of a node up to the limit", async () => {
    const data = await make([]);
    const models = [await make([data]), await make([data]), await make([data])];
    const near = await graph(data, { hops: 1, limit: 2 });
    expect(near.runs).toEqual({ [data.runId]: -1, [models[2]!.runId]: 1, [models[1]!.runId]: 1 });
    expect(near.answer).toMatchObject({ hops: 1, limit: 2, versions: [{ hop: 0, more: true }] });
    // The data has another user, and both users made something.
    expect(near.more).toBe(3);
    expect(Object.keys((await graph(data, { hops: 2, limit: 3 })).versions)).toHaveLength(4);
    expect((await graph(data, { hops: 99, limit: 999 })).answer).toMatchObject({ hops: 10, limit: 100 });
  });

  test("goes through deleted versions and not through deleted runs", async () => {
    const data = await make([]);
    const model = await make([data]);
    const scores = await make([model]);
    await fixture.client.deleteVersion({ versionId: model.id, confirm: model.id, reason: "r" }, callOf(tenant));
    const found = await graph(scores);
    expect(found.versions).toEqual({ [scores.id]: 0, [model.id]: -2, [data.id]: -4 });
    expect(found.answer.versions.find(({ version }) => version!.id === model.id)?.version?.state).toBe("soft_deleted");
    await fixture.ask(
      "UPDATE runs.runs SET hidden = true, deleted_at = now(), purge_after = now() WHERE id = $1",
      model.runId,
    );
    expect(await graph(scores)).toMatchObject({
      versions: { [scores.id]: 0, [model.id]: -2 },
      runs: { [scores.runId]: -1 },
      more: 0,
    });
  });

  test("shows a caller of one project nothing of others, and other callers their projects", async () => {
    const elsewhere = await fixture.newProject(tenant.orgId, "elsewhere");
    const data = await make([], await fixture.newCollection(tenant, { projectId: elsewhere }));
    const model = await make([data]);
    const user = await fixture.newRun(tenant, elsewhere);
    await use(user, model);
    const all = await graph(model);
    expect(all.answer.versions.map(({ project }) => project)[1]).toBe("elsewhere");
    expect(all.runs).toMatchObject({ [user]: 1, [data.runId]: -3 });
    const scoped = await graph(model, {}, callOf(tenant, { projectId: tenant.projectId }));
    expect([scoped.versions, scoped.runs, scoped.more]).toEqual([{ [model.id]: 0 }, { [model.runId]: -1 }, 0]);
    await fixture.ask("UPDATE runs.projects SET deleted_at = now(), purge_after = now() WHERE id = $1", elsewhere);
    expect((await graph(model)).versions).toEqual({ [model.id]: 0 });
  });

  test("has at most 200 nodes, and says where it ends", async () => {
    const model = await make([]);
    const runs = await Promise.all(Array.from({ length: 3 }, () => fixture.newRun(tenant)));
    for (const runId of runs) {
      await use(runId, model);
      for (let i = 0; i < 70; i += 1) await fixture.storeVersion(tenant, collection, { sourceRunId: runId });
    }
    const found = await graph(model, { limit: 100 });
    expect(Object.keys(found.versions).length + Object.keys(found.runs).length).toBe(200);
    expect(found.more).toBe(1);
  });

  test("of a version that is missing, another's, or gone is refused before its bounds are", async () => {
    const made = await make([]);
    const queryFault = { text: "no", field: "hops" };
    const ask = (versionId: string, call = callOf(tenant)) =>
      fixture.client.getLineageGraph({ versionId, queryFault }, call);
    await expect(ask(made.id)).rejects.toMatchObject({ reason: "bad_request", field: "hops" });
    const foreign = callOf(await fixture.newTenant());
    const scoped = callOf(tenant, { projectId: await fixture.newProject(tenant.orgId) });
    for (const refused of [ask("x"), ask(randomUUID()), ask(made.id, foreign), ask(made.id, scoped)]) {
      await expect(refused).rejects.toMatchObject({ reason: "not_found", message: "artifact version not found" });
    }
    await fixture.expire(made);
    await expect(ask(made.id)).rejects.toMatchObject({ reason: "gone" });
  });
});
