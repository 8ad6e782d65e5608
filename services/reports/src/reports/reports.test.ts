import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { callOf, json, nobody, startReports, text, type ReportsFixture } from "../reports.fixture.ts";

let fixture: ReportsFixture;
beforeAll(async () => {
  fixture = await startReports();
});
afterAll(() => fixture.close());

const newOrg = () => {
  const orgId = randomUUID();
  return { orgId, call: callOf(orgId) };
};
const nameProject = (orgId: string, id: string, name: string) =>
  fixture.ask("INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2, $3)", orgId, id, name);
const paragraph = { kind: "paragraph", text: "hi" };
const reason = (wanted: string) => expect.objectContaining({ reason: wanted });

describe("a report", () => {
  test("is written with defaults, and read back with every digit", async () => {
    const { orgId, call } = newOrg();
    const blocksJson = new TextEncoder().encode(
      '[{"kind":"paragraph","text":"\\u0000","seed":12345678901234567890,"f":1.0}]',
    );
    const { report } = await fixture.client.createReport({ title: "Weekly", blocksJson }, call);
    expect(text(report?.blocksJson)).toBe(text(blocksJson));
    expect(report).toMatchObject({ orgId, title: "Weekly", visibility: "private" });
    for (const absent of ["projectId", "description", "authorUserId", "shareToken"] as const)
      expect(report?.[absent]).toBeUndefined();
    const read = await fixture.client.getReport({ reportId: report!.id.toUpperCase() }, call);
    expect(read.report).toEqual(report);
  });

  test("names the user of a session as its author", async () => {
    const userId = randomUUID();
    const call = callOf(randomUUID(), { kind: CallerKind.SESSION, userId, role: "member" });
    const { report } = await fixture.client.createReport({ title: "t" }, call);
    expect(report?.authorUserId).toBe(userId);
  });

  test("changes where it is told to, and always becomes newer", async () => {
    const { orgId, call } = newOrg();
    const made = (await fixture.client.createReport({ title: "a", description: "d" }, call)).report!;
    await fixture.ask("UPDATE reports.reports SET updated_at = '2100-01-01T00:00:00Z' WHERE org_id = $1", orgId);
    const change = { reportId: made.id, title: "b", blocksJson: json([paragraph]) };
    const changed = (await fixture.client.updateReport(change, call)).report!;
    expect(changed).toMatchObject({ title: "b", description: "d", updatedAt: "2100-01-01T00:00:00.000001Z" });
    expect(text(changed.blocksJson)).toBe(JSON.stringify([paragraph]));
    const cleared = (await fixture.client.updateReport({ reportId: made.id, description: "" }, call)).report!;
    expect([cleared.title, cleared.description]).toEqual(["b", undefined]);
    expect(text(cleared.blocksJson)).toBe(JSON.stringify([paragraph]));
  });

  test.each([
    ["nothing", {}],
    ["a blank title", { title: " " }],
    ["a title of 513 bytes", { title: "t".repeat(513) }],
    ["an unknown visibility", { visibility: "hidden" }],
    ["blocks that are not JSON", { blocksJson: new TextEncoder().encode("[") }],
    ["a block of an unknown kind", { blocksJson: json([{ kind: "video" }]) }],
    [
      "a number beyond double range",
      { blocksJson: new TextEncoder().encode('[{"kind":"horizontal_rule","x":1e999}]') },
    ],
  ])("is not changed by %s", async (_what, change) => {
    const { call } = newOrg();
    const { report } = await fixture.client.createReport({ title: "a" }, call);
    const changing = fixture.client.updateReport({ reportId: report!.id, ...change }, call);
    await expect(changing).rejects.toEqual(reason("bad_request"));
  });

  test("that is missing takes precedence over a faulty change", async () => {
    const { call } = newOrg();
    const bodyFault = { text: "x", field: "title" };
    await expect(fixture.client.updateReport({ reportId: randomUUID(), bodyFault }, call)).rejects.toEqual(
      reason("not_found"),
    );
  });

  test("is not found by any caller after it was deleted", async () => {
    const { call, orgId } = newOrg();
    await fixture.addKey(orgId);
    const made = (await fixture.client.createReport({ title: "a", visibility: "public" }, call)).report!;
    const { report } = await fixture.client.shareReport({ reportId: made.id }, call);
    const deleted = await fixture.client.deleteReport({ reportId: made.id }, call);
    expect(deleted.report?.deletedAt).toEqual(expect.any(String));
    const gone = [
      fixture.client.getReport({ reportId: made.id }, call),
      fixture.client.updateReport({ reportId: made.id, title: "b" }, call),
      fixture.client.deleteReport({ reportId: made.id }, call),
      fixture.client.shareReport({ reportId: made.id }, call),
      fixture.client.getSharedReport({ shareToken: report!.shareToken! }, nobody()),
    ];
    for (const asked of gone) await expect(asked).rejects.toEqual(reason("not_found"));
    await expect(fixture.client.getReport({ reportId: made.id }, nobody())).rejects.toEqual(reason("unauthenticated"));
  });
});

describe("a caller of one project", () => {
  test("writes reports of that project only, and sees no others", async () => {
    const { orgId, call } = newOrg();
    const [projectId, other] = [randomUUID(), randomUUID()];
    const scoped = callOf(orgId, { projectId });
    const own = (await fixture.client.createReport({ title: "own" }, scoped)).report!;
    expect(own.projectId).toBe(projectId);
    const elsewhere = fixture.client.createReport({ title: "x", projectId: other }, scoped);
    await expect(elsewhere).rejects.toEqual(reason("forbidden"));
    const general = (await fixture.client.createReport({ title: "general" }, call)).report!;
    const foreign = (await fixture.client.createReport({ title: "foreign", projectId: other }, call)).report!;
    for (const reportId of [general.id, foreign.id]) {
      await expect(fixture.client.getReport({ reportId }, scoped)).rejects.toEqual(reason("not_found"));
      await expect(fixture.client.deleteReport({ reportId }, scoped)).rejects.toEqual(reason("not_found"));
    }
    const titles = async (project: string) => {
      const { reports, total } = await fixture.client.listReports({ project }, scoped);
      return [reports.map(({ title }) => title), total];
    };
    expect(await titles("")).toEqual([["own"], 1n]);
    expect(await titles(projectId)).toEqual([["own"], 1n]);
    expect(await titles(other)).toEqual([[], 0n]);
    await nameProject(orgId, projectId, "mine");
    await nameProject(orgId, other, "another");
    expect(await titles("mine")).toEqual([["own"], 1n]);
    expect(await titles("another")).toEqual([[], 0n]);
  });
});

describe("lists of reports", () => {
  test("begin with the newest change, then title and id, and count exactly", async () => {
    const { orgId, call } = newOrg();
    const projectId = randomUUID();
    const made: Record<string, string> = {};
    for (const [title, of] of [
      ["b", undefined],
      ["a", projectId],
      ["c", projectId],
    ] as const) {
      made[title] = (
        await fixture.client.createReport({ title, projectId: of, blocksJson: json([paragraph]) }, call)
      ).report!.id;
    }
    await fixture.ask("UPDATE reports.reports SET updated_at = '2026-01-01T00:00:00Z' WHERE org_id = $1", orgId);
    await fixture.client.updateReport({ reportId: made["c"]!, title: "z" }, call);
    const titles = async (page: object) => {
      const { reports, total } = await fixture.client.listReports(page, call);
      return [reports.map(({ title }) => title).join(""), Number(total)];
    };
    expect(await titles({})).toEqual(["zab", 3]);
    expect(await titles({ limit: 1, offset: 1n })).toEqual(["a", 3]);
    expect(await titles({ project: projectId.toUpperCase() })).toEqual(["za", 2]);
    expect(await titles({ project: "no id" })).toEqual(["", 0]);
    await nameProject(orgId, projectId, "Vision");
    await nameProject(randomUUID(), randomUUID(), "foreign");
    expect(await titles({ project: "Vision" })).toEqual(["za", 2]);
    expect(await titles({ project: "vision" })).toEqual(["", 0]);
    expect(await titles({ project: "foreign" })).toEqual(["", 0]);
    await fixture.client.deleteReport({ reportId: made["c"]! }, call);
    expect(await titles({})).toEqual(["ab", 2]);
    expect(await titles({ project: projectId })).toEqual(["a", 1]);
    const { reports } = await fixture.client.listReports({}, call);
    expect(reports.map(({ blockCount, hasShareToken }) => [blockCount, hasShareToken])).toEqual([
      [1, false],
      [1, false],
    ]);
  });

  test("count what writers make and delete simultaneously", async () => {
    const { call } = newOrg();
    const projects = [undefined, randomUUID(), randomUUID()];
    const made = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        fixture.client.createReport({ title: `${i}`, projectId: projects[i % 3] }, call),
      ),
    );
    await Promise.all(
      made.slice(0, 12).map(({ report }) => fixture.client.deleteReport({ reportId: report!.id }, call)),
    );
    const totals = await Promise.all(
      projects.map(async (project) =>
        Number((await fixture.client.listReports({ project: project ?? "" }, call)).total),
      ),
    );
    expect(totals).toEqual([12, 4, 4]);
  });
});
