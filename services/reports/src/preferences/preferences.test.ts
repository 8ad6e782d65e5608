import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { callOf, startReports, type ReportsFixture } from "../reports.fixture.ts";

let fixture: ReportsFixture;
beforeAll(async () => {
  fixture = await startReports();
});
afterAll(() => fixture.close());

const sessionOf = (orgId: string, userId: string) =>
  callOf(orgId, { kind: CallerKind.SESSION, userId, role: "viewer" });

test("preferences are those of one user in one organization, and the last ones count", async () => {
  const [orgId, userId] = [randomUUID(), randomUUID()];
  const call = sessionOf(orgId, userId);
  const read = async (as = call) => (await fixture.client.getPreferences({}, as)).preferences;
  expect([(await read())?.selectedProject, (await read())?.updatedAt]).toEqual([undefined, undefined]);
  const first = (await fixture.client.setPreferences({ selectedProject: "a" }, call)).preferences!;
  const second = (await fixture.client.setPreferences({ selectedProject: "b" }, call)).preferences!;
  expect([first.selectedProject, second.selectedProject]).toEqual(["a", "b"]);
  expect(second.updatedAt! > first.updatedAt!).toBe(true);
  expect(await read()).toEqual(second);
  for (const other of [sessionOf(randomUUID(), userId), sessionOf(orgId, randomUUID())]) {
    expect((await read(other))?.selectedProject).toBeUndefined();
  }
  const cleared = (await fixture.client.setPreferences({}, call)).preferences;
  expect([cleared?.selectedProject, typeof cleared?.updatedAt]).toEqual([undefined, "string"]);
});

test("a project has at most 512 bytes", async () => {
  const call = sessionOf(randomUUID(), randomUUID());
  await fixture.client.setPreferences({ selectedProject: "p".repeat(512) }, call);
  const saving = fixture.client.setPreferences({ selectedProject: "p".repeat(513) }, call);
  await expect(saving).rejects.toMatchObject({ reason: "bad_request", field: "selected_project" });
});
