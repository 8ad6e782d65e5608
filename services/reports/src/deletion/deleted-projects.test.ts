import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { CallerKind } from "@tidemark/proto/common/v1/common";

import { removeReports } from "../removal/remove-reports.ts";
import { callOf, json, nobody, startReports, type ReportsFixture } from "../reports.fixture.ts";

let fixture: ReportsFixture;
beforeAll(async () => {
  fixture = await startReports();
});
afterAll(() => fixture.close());

const lockRow = testSql("SELECT id FROM reports.reports WHERE org_id = $1 AND id = $2 FOR UPDATE");
const reason = (wanted: string) => expect.objectContaining({ reason: wanted });
const blocksJson = json([{ kind: "panel_grid", runsets: [], panels: [{ type: "line", metric_key: "loss" }] }]);

let orgId: string;
let projectId: string;
let userId: string;
beforeEach(async () => {
  [orgId, projectId, userId] = [randomUUID(), randomUUID(), randomUUID()];
  await insertProject(projectId, "mine");
});
const call = () => callOf(orgId);
const session = () => callOf(orgId, { kind: CallerKind.SESSION, userId, role: "member" });

async function insertProject(id: string, name: string): Promise<void> {
  await fixture.ask("INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2, $3)", orgId, id, name);
}

async function setDeleted(isDeleted: boolean): Promise<void> {
  await fixture.ask(
    `UPDATE runs.projects SET deleted_at = CASE WHEN $3 THEN now() END, purge_after = CASE WHEN $3 THEN now() + interval '30 days' END
     WHERE org_id = $1 AND id = $2`,
    orgId,
    projectId,
    isDeleted,
  );
}

const newReport = async (more: object = {}) =>
  (await fixture.client.createReport({ title: "t", blocksJson, projectId, ...more }, call())).report!.id;
const newView = async (project?: string) =>
  (await fixture.client.createView({ name: "v", ...(project !== undefined && { project }) }, session())).view!;

describe("reports of a deleted project", () => {
  test("are in no list and in no count, and back when it is restored", async () => {
    const [other, without] = [await newReport({ projectId: randomUUID() }), await newReport({ projectId: undefined })];
    const hidden = await newReport();
    const lists = async () => {
      const all = await fixture.client.listReports({}, call());
      const panels = await fixture.client.listPanels({}, call());
      const named = await Promise.all(
        ["mine", projectId].map((project) => fixture.client.listReports({ project }, call())),
      );
      const bound = callOf(orgId, { projectId });
      const own = await fixture.client.listReports({}, bound);
      const ownPanels = await fixture.client.listPanels({}, bound);
      return {
        all: [all.reports.map(({ id }) => id).toSorted(), all.total],
        panels: panels.panels.map(({ reportId }) => reportId).toSorted(),
        named: [...named, own].map(({ reports, total }) => [reports.map(({ id }) => id), total]),
        ownPanels: ownPanels.panels.map(({ reportId }) => reportId),
      };
    };
    const before = await lists();
    expect(before).toEqual({
      all: [[hidden, other, without].toSorted(), 3n],
      panels: [hidden, other, without].toSorted(),
      named: [0, 1, 2].map(() => [[hidden], 1n]),
      ownPanels: [hidden],
    });
    await setDeleted(true);
    expect(await lists()).toEqual({
      all: [[other, without].toSorted(), 2n],
      panels: [other, without].toSorted(),
      named: [0, 1, 2].map(() => [[], 0n]),
      ownPanels: [],
    });
    await setDeleted(false);
    expect(await lists()).toEqual(before);
  });

  test("are not found by any caller, also not public or by a share token", async () => {
    const reportId = await newReport({ visibility: "public" });
    await fixture.addKey(call().identity!.orgId);
    const shareToken = (await fixture.client.shareReport({ reportId }, call())).report!.shareToken!;
    const reads = () => [
      fixture.client.getReport({ reportId }, call()),
      fixture.client.getReport({ reportId, shareToken }, callOf(randomUUID())),
      fixture.client.getSharedReport({ shareToken }, nobody()),
    ];
    const writes = () => [
      fixture.client.updateReport({ reportId, title: "u" }, call()),
      fixture.client.shareReport({ reportId }, call()),
      fixture.client.deleteReport({ reportId }, call()),
    ];
    await setDeleted(true);
    for (const one of [...reads(), ...writes()]) await expect(one).rejects.toEqual(reason("not_found"));
    const strangers = fixture.client.getReport({ reportId, shareToken }, nobody());
    await expect(strangers).rejects.toEqual(reason("unauthenticated"));
    await setDeleted(false);
    for (const one of reads()) expect((await one).report).toMatchObject({ id: reportId, title: "t" });
  });

  test("are not created", async () => {
    await setDeleted(true);
    await expect(newReport()).rejects.toEqual(reason("not_found"));
    await expect(fixture.client.createReport({ title: "t", blocksJson }, callOf(orgId, { projectId }))).rejects.toEqual(
      reason("not_found"),
    );
    await setDeleted(false);
    expect((await fixture.client.listReports({}, call())).total).toBe(0n);
  });

  test("end a change that had begun as they began it", async () => {
    const reportId = await newReport();
    // The project is deleted while the change waits for the row, which another transaction has locked.
    let locked = (): void => undefined;
    const isLocked = new Promise<void>((resolve) => (locked = resolve));
    let letGo = (): void => undefined;
    const holding = fixture.db.withTenant(orgId, async (tx) => {
      await tx.rows(lockRow, [orgId, reportId]);
      locked();
      await new Promise<void>((resolve) => (letGo = resolve));
    });
    await isLocked;
    const changing = fixture.client.updateReport({ reportId, title: "u" }, call());
    await setDeleted(true);
    letGo();
    await holding;
    const outcome = await changing.then(
      () => "done",
      (error: { reason: string }) => error.reason,
    );
    expect(["done", "not_found"]).toContain(outcome);
    await setDeleted(false);
    const { report } = await fixture.client.getReport({ reportId }, call());
    expect(report!.title).toBe(outcome === "done" ? "u" : "t");
  });
});

describe("views of a deleted project", () => {
  test("are hidden whether they name it or have its id, and back when it is restored", async () => {
    const views = [await newView("mine"), await newView(projectId), await newView(projectId.toUpperCase())];
    const kept = [await newView(), await newView("never was"), await newView(randomUUID())];
    const listed = async () => (await fixture.client.listViews({}, session())).views.map(({ id }) => id).toSorted();
    const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).toSorted();
    expect(await listed()).toEqual(idsOf([...views, ...kept]));
    await setDeleted(true);
    expect(await listed()).toEqual(idsOf(kept));
    for (const { id: viewId, updatedAt } of views) {
      for (const asked of [
        fixture.client.getView({ viewId }, session()),
        fixture.client.exportView({ viewId }, session()),
        fixture.client.updateView({ viewId, name: "n" }, session()),
        fixture.client.deleteView({ viewId, expectedUpdatedAt: updatedAt }, session()),
      ]) {
        await expect(asked).rejects.toEqual(reason("not_found"));
      }
    }
    await setDeleted(false);
    expect(await listed()).toEqual(idsOf([...views, ...kept]));
  });

  test("are hidden from those who read them as shared, and from admins", async () => {
    const mine = await newView("mine");
    await fixture.client.updateView({ viewId: mine.id, visibility: "organization" }, session());
    const admin = callOf(orgId, { kind: CallerKind.SESSION, userId: randomUUID(), role: "admin" });
    const ids = async () => (await fixture.client.listViews({}, admin)).views.map(({ id }) => id);
    expect(await ids()).toEqual([mine.id]);
    await setDeleted(true);
    expect(await ids()).toEqual([]);
    const expectedUpdatedAt = mine.updatedAt;
    for (const asked of [
      fixture.client.getView({ viewId: mine.id }, admin),
      fixture.client.exportView({ viewId: mine.id }, admin),
      fixture.client.deleteView({ viewId: mine.id, expectedUpdatedAt }, admin),
    ]) {
      await expect(asked).rejects.toEqual(reason("not_found"));
    }
    await setDeleted(false);
    expect(await ids()).toEqual([mine.id]);
  });

  test("by its name are those of a new project that has the name now", async () => {
    const [byName, byId] = [await newView("mine"), await newView(projectId)];
    await setDeleted(true);
    await insertProject(randomUUID(), "mine");
    expect((await fixture.client.getView({ viewId: byName.id }, session())).view).toEqual(byName);
    await expect(fixture.client.getView({ viewId: byId.id }, session())).rejects.toEqual(reason("not_found"));
  });

  test("are not created, imported or moved there", async () => {
    const view = await newView();
    const { exportedJson } = await fixture.client.exportView({ viewId: view.id }, session());
    await setDeleted(true);
    for (const project of ["mine", projectId]) {
      for (const asked of [
        newView(project),
        fixture.client.updateView({ viewId: view.id, project }, session()),
        fixture.client.importView({ exportedJson, project }, session()),
        fixture.client.importView({ exportedJson, project, dryRun: true }, session()),
        fixture.client.importView(
          {
            exportedJson,
            project,
            conflictStrategy: "replace",
            existingViewId: view.id,
            expectedUpdatedAt: view.updatedAt,
          },
          session(),
        ),
      ]) {
        await expect(asked).rejects.toEqual(reason("not_found"));
      }
    }
    await setDeleted(false);
    expect((await fixture.client.listViews({}, session())).views).toHaveLength(1);
    expect((await fixture.client.getView({ viewId: view.id }, session())).view).toEqual(view);
  });
});

test.each(["project", "organization"] as const)("data that a deleted %s hides is removed with it", async (kind) => {
  await newReport();
  await newView("mine");
  await setDeleted(true);
  const id = kind === "project" ? projectId : orgId;
  expect(await removeReports(fixture.db, { orgId, kind, id, projectId: null })).toBe(true);
  const left = await fixture.ask<{ rows: number }>(
    `SELECT (SELECT count(*) FROM reports.reports WHERE org_id = $1) + (SELECT count(*) FROM reports.views WHERE org_id = $1)
       + (SELECT coalesce(sum(reports), 0) FROM reports.report_counts WHERE org_id = $1)
       + (SELECT coalesce(sum(views), 0) FROM reports.view_counts WHERE org_id = $1) AS rows`,
    orgId,
  );
  expect(Number(left[0]!.rows)).toBe(0);
});
