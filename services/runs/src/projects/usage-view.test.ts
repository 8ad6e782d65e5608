import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createDb, type Db } from "@tidemark/pg";
import { callAs, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { readPlanUsage } from "./projects.sql.ts";

let fixture: RunsFixture;
let usage: Db;
beforeAll(async () => {
  fixture = await startRuns();
  usage = createDb({ url: fixture.url, role: "tidemark_usage", application: "test", connectionsMax: 1 });
});
afterAll(async () => {
  await usage.close();
  await fixture.close();
});

const read = testSql("SELECT org_id, projects, runs FROM runs.usage_v1");

test("projects and runs are those that the plan counts, of one organization", async () => {
  const [own, other] = [callAs(), callAs()];
  await fixture.client.createRun({ project: "foreign" }, other);
  const { orgId } = own;
  const useOf = () => usage.readTenant(orgId, (tx) => tx.rows<{ projects: number; runs: number }>(read, []));
  expect(await useOf()).toEqual([]);
  for (const project of ["a", "a", "b"]) await fixture.client.createRun({ project }, own);
  await fixture.client.createProject({ name: "empty" }, own);
  const { run } = await fixture.client.createRun({ project: "b" }, own);
  await fixture.client.updateRun({ runId: run!.id, status: "failed" }, own);
  expect(await useOf()).toEqual([{ org_id: orgId, projects: 3, runs: 4 }]);
  expect(await fixture.db.withTenant(orgId, (tx) => readPlanUsage(tx, orgId))).toEqual({ projects: 3, runs: 4 });
});

test.each(["SELECT name FROM runs.projects", "SELECT id FROM runs.runs", "UPDATE runs.projects SET runs_failed = 0"])(
  "the service of usage cannot: %s",
  async (statement) => {
    const { orgId } = callAs();
    const denied = usage.withTenant(orgId, (tx) => tx.rows(testSql(statement), []));
    await expect(denied).rejects.toThrow(/permission denied/);
  },
);
