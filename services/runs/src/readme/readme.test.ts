import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { README_BYTES_MAX } from "@tidemark/limits";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

test("a readme is empty, then what was written, then what replaced it, then empty again without a row", async () => {
  const call = callAs();
  const { id: runId } = await makeRun(fixture.client, call);
  expect((await fixture.client.getReadme({ runId }, call)).markdown).toBe("");
  for (const markdown of ["  # é\n", "é".repeat(README_BYTES_MAX / 2), ""]) {
    expect((await fixture.client.putReadme({ runId, markdown }, call)).markdown).toBe(markdown);
    expect((await fixture.client.getReadme({ runId }, call)).markdown).toBe(markdown);
  }
  expect(await asOwner(fixture, "SELECT FROM runs.readmes WHERE run_id = $1", [runId])).toEqual([]);
});

describe("a refused request changes nothing", () => {
  test.each([
    ["a byte too many", { markdown: "x".repeat(README_BYTES_MAX + 1) }],
    ["NUL", { markdown: "a\0b" }],
  ])("%s is 400, of a missing run 404", async (_what, request) => {
    const call = callAs();
    const { id: runId } = await makeRun(fixture.client, call);
    await fixture.client.putReadme({ runId, markdown: "kept" }, call);
    const refused = await failure(fixture.client.putReadme({ runId, ...request }, call));
    expect(refused).toMatchObject({ reason: "bad_request", field: "markdown" });
    expect((await fixture.client.getReadme({ runId }, call)).markdown).toBe("kept");
    const missing = await failure(fixture.client.putReadme({ runId: randomUUID(), ...request }, call));
    expect(missing).toMatchObject({ reason: "not_found", message: "run not found" });
  });
});

test("other organizations and keys of other projects find no run", async () => {
  const call = callAs();
  const run = await makeRun(fixture.client, call, { project: "a" });
  const other = await makeRun(fixture.client, call, { project: "b" });
  for (const stranger of [callAs(), callAs({ orgId: call.orgId, projectId: other.projectId })]) {
    for (const asking of [
      fixture.client.getReadme({ runId: run.id }, stranger),
      fixture.client.putReadme({ runId: run.id, markdown: "x" }, stranger),
    ]) {
      expect(await failure(asking)).toMatchObject({ reason: "not_found" });
    }
  }
  const scoped = callAs({ orgId: call.orgId, projectId: run.projectId });
  await fixture.client.putReadme({ runId: run.id, markdown: "mine" }, scoped);
  expect((await fixture.client.getReadme({ runId: run.id }, scoped)).markdown).toBe("mine");
});
