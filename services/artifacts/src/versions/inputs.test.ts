import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  callOf,
  startArtifacts,
  type ArtifactsFixture,
  type Tenant,
  type TestCollection,
} from "../artifacts.fixture.ts";

let fixture: ArtifactsFixture;
let tenant: Tenant;
let collection: TestCollection;
let runId: string;

beforeAll(async () => {
  fixture = await startArtifacts();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  tenant = await fixture.newTenant();
  collection = await fixture.newCollection(tenant);
  runId = await fixture.newRun(tenant);
});

const use = (request: object, call = callOf(tenant)) => fixture.client.addInput({ runId, ...request }, call);
const lineage = (versionId: string, limit = 0, call = callOf(tenant)) =>
  fixture.client.getVersionLineage({ versionId, limit }, call);

describe("an input", () => {
  test("is recorded once, by id or by reference", async () => {
    const { id } = await fixture.storeVersion(tenant, collection, { aliases: ["best"] });
    const first = await use({ versionId: id });
    expect(first.edge).toMatchObject({
      orgId: tenant.orgId,
      projectId: tenant.projectId,
      runId,
      versionId: id,
      direction: "input",
      source: "sdk",
    });
    expect(first.version).toMatchObject({ id, aliases: ["best", "latest"] });
    for (const request of [{ versionId: id.toUpperCase() }, { ref: "policy" }, { ref: "policy:best", type: "model" }]) {
      expect(await use(request)).toEqual(first);
    }
  });

  test("and what a run made are listed for the run, whichever version it is, also when it is deleted", async () => {
    const old = await fixture.storeVersion(tenant, collection);
    const made = await fixture.storeVersion(tenant, collection, { sourceRunId: runId });
    await fixture.storeVersion(tenant, collection);
    await use({ versionId: old.id });
    const list = async (page: object = { limit: 10, offset: 0n }) => {
      const { versions, total } = await fixture.client.listVersionsOfRun({ runId, page }, callOf(tenant));
      return {
        total,
        versions: Object.fromEntries(versions.map(({ version, direction }) => [version!.id, direction])),
      };
    };

    expect(await list()).toEqual({ total: 2n, versions: { [old.id]: "input", [made.id]: "output" } });
    expect(Object.keys((await list({ limit: 1, offset: 1n })).versions)).toHaveLength(1);
    const other = await fixture.newTenant();
    await expect(fixture.client.listVersionsOfRun({ runId }, callOf(other))).rejects.toMatchObject({
      reason: "not_found",
    });
  });

  test("is recorded once by many at the same time", async () => {
    const { id } = await fixture.storeVersion(tenant, collection);
    const answers = await Promise.all(Array.from({ length: 10 }, () => use({ versionId: id })));
    expect(new Set(answers.map(({ edge }) => edge!.id)).size).toBe(1);
  });

  test("by a reference means the run's project", async () => {
    const project = await fixture.newProject(tenant.orgId, "elsewhere");
    const other = await fixture.newCollection(tenant, { projectId: project });
    const theirs = await fixture.storeVersion(tenant, other);
    const ours = await fixture.storeVersion(tenant, collection);
    expect((await use({ ref: "policy" })).version?.id).toBe(ours.id);
    expect((await use({ ref: "elsewhere/model/policy" })).version?.id).toBe(theirs.id);
    await expect(
      use({ ref: "elsewhere/model/policy" }, callOf(tenant, { projectId: tenant.projectId })),
    ).rejects.toMatchObject({ reason: "not_found", message: "artifact version not found" });
    await expect(use({ versionId: theirs.id }, callOf(tenant, { projectId: tenant.projectId }))).rejects.toMatchObject({
      reason: "not_found",
      message: "artifact version not found",
    });
  });

  test.each([
    ["neither id nor reference", {}, undefined],
    ["both", { versionId: randomUUID(), ref: "policy" }, undefined],
    ["an id that is none", { versionId: "x" }, "artifact_version_id"],
    ["a malformed reference", { ref: "a/b/c/d" }, "ref"],
    ["a fault that the gateway found", { versionId: "x", bodyFault: { text: "no", field: "ref" } }, "ref"],
  ])("with %s is 400", async (_what, request, field) => {
    await expect(use(request)).rejects.toMatchObject({ reason: "bad_request", field });
  });

  test("of an unknown version is 404, like one of another organization", async () => {
    const foreign = await fixture.newTenant();
    const theirs = await fixture.storeVersion(foreign, await fixture.newCollection(foreign));
    for (const versionId of [randomUUID(), theirs.id]) {
      await expect(use({ versionId })).rejects.toMatchObject({
        reason: "not_found",
        message: "artifact version not found",
      });
    }
    await expect(use({ ref: "policy" })).rejects.toMatchObject({ reason: "not_found" });
  });

  test("of a run that the caller may not see is 404, even with other faults", async () => {
    const theirs = await fixture.newRun(await fixture.newTenant());
    const elsewhere = await fixture.newRun(tenant, await fixture.newProject(tenant.orgId));
    const call = callOf(tenant, { projectId: tenant.projectId });
    for (const hidden of [theirs, elsewhere, randomUUID(), "x"]) {
      const refused = use({ runId: hidden, bodyFault: { text: "no", field: "ref" } }, call);
      await expect(refused).rejects.toMatchObject({ reason: "not_found", message: "run not found" });
    }
  });

  test("never joins a version that was deleted before it", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await fixture.storeVersion(tenant, collection);
      const run = await fixture.newRun(tenant);
      const [used, deleted] = await Promise.allSettled([
        use({ runId: run, versionId: id }),
        fixture.client.deleteVersion({ versionId: id, confirm: id, reason: "r" }, callOf(tenant)),
      ]);
      expect(deleted.status).toBe("fulfilled");
      const rows = await fixture.ask("SELECT true FROM artifacts.edges WHERE run_id = $1 AND direction = 'input'", run);
      if (used.status === "fulfilled") expect(rows).toHaveLength(1);
      else {
        expect(used.reason).toMatchObject({ reason: "gone" });
        expect(rows).toEqual([]);
      }
    }
  });
});

describe("the lineage of a version", () => {
  test("has the runs that made and used it, in the order in which they did", async () => {
    const made = await fixture.storeVersion(tenant, collection);
    await use({ versionId: made.id });
    await use({ versionId: made.id, runId: made.runId });
    await fixture.ask(
      "UPDATE runs.runs SET name = 'eval', status = 'failed', finished_at = now() WHERE id = $1",
      runId,
    );
    const [row] = await fixture.ask<{ name: string }>("SELECT name FROM runs.projects WHERE id = $1", tenant.projectId);
    const answer = await lineage(made.id);
    expect(answer).toMatchObject({ truncated: false, limit: 200, version: { id: made.id } });
    expect(answer.runs).toMatchObject([
      { runId: made.runId, name: "a run", project: row!.name, status: "running", direction: "output" },
      { runId, name: "eval", status: "failed", direction: "input" },
      { runId: made.runId, direction: "input" },
    ]);
  });

  test("is cut at the limit and says so", async () => {
    const made = await fixture.storeVersion(tenant, collection);
    await use({ versionId: made.id });
    expect(await lineage(made.id, 1)).toMatchObject({ truncated: true, limit: 1, runs: [{ direction: "output" }] });
    expect(await lineage(made.id, 2)).toMatchObject({ truncated: false, limit: 2 });
    expect(await lineage(made.id, 999)).toMatchObject({ limit: 200 });
    await expect(
      fixture.client.getVersionLineage(
        { versionId: made.id, queryFault: { text: "no", field: "limit" } },
        callOf(tenant),
      ),
    ).rejects.toMatchObject({ reason: "bad_request", field: "limit" });
  });

  test("shows a caller of one project no runs of others", async () => {
    const made = await fixture.storeVersion(tenant, collection);
    const project = await fixture.newProject(tenant.orgId);
    await use({ versionId: made.id, runId: await fixture.newRun(tenant, project) });
    expect((await lineage(made.id)).runs).toHaveLength(2);
    const scoped = await lineage(made.id, 1, callOf(tenant, { projectId: tenant.projectId }));
    expect(scoped).toMatchObject({ truncated: false, runs: [{ runId: made.runId }] });
  });
});
