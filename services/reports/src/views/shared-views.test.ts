import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { VIEWS_MAX } from "@tidemark/limits";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import type { Call } from "@tidemark/rpc";
import { callOf, json, startReports, text, type ReportsFixture } from "../reports.fixture.ts";

let fixture: ReportsFixture;
beforeAll(async () => {
  fixture = await startReports();
});
afterAll(() => fixture.close());

type Role = "owner" | "admin" | "member" | "viewer";
const reason = (wanted: string) => expect.objectContaining({ reason: wanted });
const memberOf = (orgId: string, role: Role = "member", userId: string = randomUUID()): Call =>
  callOf(orgId, { kind: CallerKind.SESSION, userId, role });
const newView = async (call: Call, more: object = {}) =>
  (await fixture.client.createView({ name: "Daily", visibility: "organization", ...more }, call)).view!;
const listed = async (call: Call) => (await fixture.client.listViews({}, call)).views;
const countsOf = async (orgId: string) => {
  const rows = await fixture.ask<{ owner: string; views: number }>(
    "SELECT owner_user_id AS owner, views FROM reports.view_counts WHERE org_id = $1",
    orgId,
  );
  return Object.fromEntries(rows.map(({ owner, views }) => [owner, views]));
};
const roles: Role[] = ["owner", "admin", "member", "viewer"];

describe("a view is shared", () => {
  test.each(roles)("with a user who is %s, who reads all of it", async (role) => {
    const orgId = randomUUID();
    const owner = memberOf(orgId);
    const view = await newView(owner, { project: "p", payloadJson: json({ n: 1 }) });
    expect(view).toMatchObject({ visibility: "organization", isOwner: true });
    const reader = memberOf(orgId, role);
    const read = (await fixture.client.getView({ viewId: view.id }, reader)).view!;
    expect(read).toEqual({ ...view, isOwner: false });
    const { id, name, project, createdAt, updatedAt, ownerUserId, visibility } = view;
    const summary = { id, name, project, createdAt, updatedAt, ownerUserId, visibility };
    expect(await listed(reader)).toEqual([expect.objectContaining({ ...summary, isOwner: false })]);
    expect(await listed(owner)).toEqual([expect.objectContaining({ ...summary, isOwner: true })]);
    const exported = text((await fixture.client.exportView({ viewId: id }, reader)).exportedJson);
    expect(exported).toContain('"view":{"name":"Daily","project":"p","payload":{"n":1}}');
    expect(exported).not.toContain("visibility");
  });

  test("with no user by default, and with no user of another organization", async () => {
    const orgId = randomUUID();
    const owner = memberOf(orgId);
    const own = await newView(owner, { visibility: undefined });
    expect(own).toMatchObject({ visibility: "private", isOwner: true });
    const explicit = await newView(owner, { visibility: "private" });
    const shared = await newView(owner);
    const stranger = memberOf(randomUUID(), "owner", owner.identity!.userId);
    for (const [call, id] of [
      [memberOf(orgId, "owner"), own.id],
      [memberOf(orgId, "owner"), explicit.id],
      [stranger, shared.id],
    ] as const) {
      for (const asked of [
        fixture.client.getView({ viewId: id }, call),
        fixture.client.exportView({ viewId: id }, call),
        fixture.client.updateView({ viewId: id }, call),
        fixture.client.deleteView({ viewId: id, expectedUpdatedAt: shared.updatedAt }, call),
      ]) {
        await expect(asked).rejects.toEqual(reason("not_found"));
      }
    }
    expect((await listed(memberOf(orgId))).map(({ id }) => id)).toEqual([shared.id]);
    expect(await listed(stranger)).toEqual([]);
  });

  test("and taken back by a change of its owner; other changes leave it as it is", async () => {
    const orgId = randomUUID();
    const [owner, reader] = [memberOf(orgId), memberOf(orgId)];
    const { id: viewId } = await newView(owner, { visibility: undefined });
    const change = async (more: object) => (await fixture.client.updateView({ viewId, ...more }, owner)).view!;
    expect((await change({ name: "n" })).visibility).toBe("private");
    expect((await change({ visibility: "organization" })).visibility).toBe("organization");
    expect((await change({ name: "m" })).visibility).toBe("organization");
    expect(await listed(reader)).toHaveLength(1);
    await change({ visibility: "private" });
    expect(await listed(reader)).toEqual([]);
    await expect(fixture.client.getView({ viewId }, reader)).rejects.toEqual(reason("not_found"));
    await expect(change({ visibility: "public" })).rejects.toEqual(reason("bad_request"));
    await expect(newView(owner, { visibility: "org" })).rejects.toEqual(reason("bad_request"));
  });
});

describe("a shared view of another user", () => {
  test("is not changed or replaced, by any role or with any fields", async () => {
    const orgId = randomUUID();
    const owner = memberOf(orgId);
    const view = await newView(owner);
    const { exportedJson } = await fixture.client.exportView({ viewId: view.id }, owner);
    const known = { existingViewId: view.id, expectedUpdatedAt: view.updatedAt };
    for (const role of roles) {
      const call = memberOf(orgId, role);
      for (const asked of [
        fixture.client.updateView({ viewId: view.id, name: " " }, call),
        fixture.client.updateView({ viewId: view.id, visibility: "private" }, call),
        fixture.client.importView({ exportedJson, conflictStrategy: "replace", ...known }, call),
        fixture.client.importView({ exportedJson, conflictStrategy: "replace", ...known, dryRun: true }, call),
      ]) {
        await expect(asked).rejects.toEqual(reason("forbidden"));
      }
    }
    expect((await fixture.client.getView({ viewId: view.id }, owner)).view).toEqual(view);
  });

  test("is not deleted by members and viewers, also without a moment", async () => {
    const orgId = randomUUID();
    const view = await newView(memberOf(orgId));
    for (const role of ["member", "viewer"] as const) {
      for (const expectedUpdatedAt of [view.updatedAt, view.createdAt.replace("Z", "1Z"), ""]) {
        const asked = fixture.client.deleteView({ viewId: view.id, expectedUpdatedAt }, memberOf(orgId, role));
        await expect(asked).rejects.toEqual(reason("forbidden"));
      }
    }
    expect(await listed(memberOf(orgId))).toHaveLength(1);
  });

  test.each(["owner", "admin"] as const)(
    "is deleted by an %s who knows it, and counted off its owner",
    async (role) => {
      const orgId = randomUUID();
      const [owner, admin] = [memberOf(orgId), memberOf(orgId, role)];
      const view = await newView(owner);
      await newView(admin);
      const remove = (call: Call, expectedUpdatedAt = view.updatedAt) =>
        fixture.client.deleteView({ viewId: view.id, expectedUpdatedAt }, call);
      await expect(remove(admin, "")).rejects.toEqual(reason("bad_request"));
      await expect(remove(admin, view.createdAt.replace("Z", "1Z"))).rejects.toEqual(reason("conflict"));
      const asked = await Promise.allSettled([remove(admin), remove(owner), remove(admin)]);
      const outcomes = asked.map((one) =>
        one.status === "fulfilled" ? "done" : (one.reason as { reason: string }).reason,
      );
      expect(outcomes.toSorted()).toEqual(["conflict", "conflict", "done"]);
      expect(await countsOf(orgId)).toEqual({
        [owner.identity!.userId]: 0,
        [admin.identity!.userId]: 1,
        "00000000-0000-0000-0000-000000000000": 1,
      });
      // It no longer exists for users who only read it.
      const reader = memberOf(orgId);
      for (const gone of [
        remove(reader),
        fixture.client.getView({ viewId: view.id }, reader),
        fixture.client.updateView({ viewId: view.id }, admin),
        fixture.client.updateView({ viewId: view.id }, owner),
      ]) {
        await expect(gone).rejects.toEqual(reason("not_found"));
      }
      expect(await listed(reader)).toHaveLength(1);
    },
  );
});

test("lists merge the own views and those that others share, page by page, each once", async () => {
  const orgId = randomUUID();
  const [reader, other, third] = [memberOf(orgId), memberOf(orgId), memberOf(orgId)];
  const made: string[] = [];
  for (const [call, name, visibility] of [
    [reader, "own", "private"],
    [other, "hidden", "private"],
    [other, "b", "organization"],
    [reader, "own shared", "organization"],
    [third, "a", "organization"],
    [other, "a", "organization"],
    [reader, "last", "private"],
  ] as const) {
    const { id } = await newView(call, { name, visibility });
    if (name !== "hidden") made.push(`${name} ${id}`);
  }
  const pages = async (limit: number) => {
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await fixture.client.listViews({ limit, cursor }, reader);
      seen.push(...page.views.map(({ name, id }) => `${name} ${id}`));
      cursor = page.nextCursor;
    } while (cursor !== "");
    return seen;
  };
  for (const limit of [1, 2, 3, 6, 100]) expect(await pages(limit)).toEqual(made.toReversed());
  // Views of the same moment are in the order of their names and ids, regardless of their owners.
  await fixture.ask("UPDATE reports.views SET updated_at = '2026-01-01T00:00:00Z' WHERE org_id = $1", orgId);
  for (const limit of [1, 2, 5, 100]) expect(await pages(limit)).toEqual(made.toSorted());
});

test("views count for their owner, shared or not, and not for their readers", async () => {
  const orgId = randomUUID();
  const [owner, reader] = [memberOf(orgId), memberOf(orgId)];
  const { id: viewId } = await newView(owner);
  await newView(reader);
  await fixture.ask(
    "UPDATE reports.view_counts SET views = $2 WHERE org_id = $1 AND owner_user_id = $3",
    orgId,
    VIEWS_MAX.ofUser,
    owner.identity!.userId,
  );
  await expect(newView(owner)).rejects.toEqual(reason("bad_request"));
  await fixture.client.updateView({ viewId, visibility: "private" }, owner);
  await expect(newView(owner)).rejects.toEqual(reason("bad_request"));
  await newView(reader);
});

test("a view that is imported is private, and one that is replaced stays as shared as it was", async () => {
  const orgId = randomUUID();
  const [owner, reader] = [memberOf(orgId), memberOf(orgId)];
  const view = await newView(owner);
  const { exportedJson } = await fixture.client.exportView({ viewId: view.id }, reader);
  const made = (await fixture.client.importView({ exportedJson }, reader)).view!;
  expect(made).toMatchObject({ visibility: "private", isOwner: true, ownerUserId: reader.identity!.userId });
  const known = { existingViewId: view.id, expectedUpdatedAt: view.updatedAt };
  const replace = { exportedJson, conflictStrategy: "replace", name: "New", ...known };
  const replaced = (await fixture.client.importView(replace, owner)).view!;
  expect(replaced).toMatchObject({ id: view.id, name: "New", visibility: "organization" });
});
