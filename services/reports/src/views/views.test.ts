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

const reason = (wanted: string) => expect.objectContaining({ reason: wanted });
const sessionOf = (orgId: string = randomUUID(), more: object = {}): Call =>
  callOf(orgId, { kind: CallerKind.SESSION, userId: randomUUID(), role: "member", ...more });
const newView = async (call: Call, more: object = {}) =>
  (await fixture.client.createView({ name: "Daily", ...more }, call)).view!;
const outcomes = async (asked: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(asked))
    .map((one) => (one.status === "fulfilled" ? "done" : (one.reason as { reason: string }).reason))
    .toSorted();

describe("a view", () => {
  test("belongs to one user of one organization", async () => {
    const [orgId, userId] = [randomUUID(), randomUUID()];
    const call = sessionOf(orgId, { userId });
    const view = await newView(call, { project: "p", payloadJson: json({ n: 1 }) });
    expect(view).toMatchObject({ orgId, ownerUserId: userId, name: "Daily", project: "p" });
    expect((await fixture.client.getView({ viewId: view.id.toUpperCase() }, call)).view).toEqual(view);
    for (const other of [sessionOf(orgId), sessionOf(randomUUID(), { userId })]) {
      const { id: viewId, updatedAt: expectedUpdatedAt } = view;
      for (const asked of [
        fixture.client.getView({ viewId }, other),
        fixture.client.updateView({ viewId }, other),
        fixture.client.deleteView({ viewId, expectedUpdatedAt }, other),
        fixture.client.exportView({ viewId }, other),
      ]) {
        await expect(asked).rejects.toEqual(reason("not_found"));
      }
      expect((await fixture.client.listViews({}, other)).views).toEqual([]);
    }
  });

  test("keeps every digit of its payload", async () => {
    const call = sessionOf();
    const payloadJson = new TextEncoder().encode('{"seed":12345678901234567890,"f":1.0,"t":"\\u0000"}');
    const { id } = await newView(call, { payloadJson });
    expect(text((await fixture.client.getView({ viewId: id }, call)).view?.payloadJson)).toBe(text(payloadJson));
  });

  test("becomes newer with each change, also with none, and where the clock was set back", async () => {
    const call = sessionOf();
    const view = await newView(call, { project: "p" });
    const unchanged = (await fixture.client.updateView({ viewId: view.id }, call)).view!;
    expect(unchanged.updatedAt > view.updatedAt).toBe(true);
    expect(unchanged).toMatchObject({ name: "Daily", project: "p" });
    await fixture.ask("UPDATE reports.views SET updated_at = '2100-01-01T00:00:00Z' WHERE id = $1", view.id);
    const change = { viewId: view.id, name: "Weekly", project: "", payloadJson: json({ a: 1 }) };
    const changed = (await fixture.client.updateView(change, call)).view!;
    expect([changed.name, changed.project, changed.updatedAt]).toEqual([
      "Weekly",
      undefined,
      "2100-01-01T00:00:00.000001Z",
    ]);
    expect(text(changed.payloadJson)).toBe('{"a":1}');
  });

  test.each([
    ["a blank name", { name: " " }],
    ["a name of 513 bytes", { name: "n".repeat(513) }],
    ["a project of 513 bytes", { project: "p".repeat(513) }],
    ["the key __proto__", { payloadJson: new TextEncoder().encode('{"__proto__":{}}') }],
  ])("is refused with %s", async (_what, fields) => {
    const call = sessionOf();
    const making = fixture.client.createView({ name: "n", ...fields }, call);
    await expect(making).rejects.toEqual(reason("bad_request"));
    const view = await newView(call);
    const changing = fixture.client.updateView({ viewId: view.id, ...fields }, call);
    await expect(changing).rejects.toEqual(reason("bad_request"));
  });

  test("is not created while a payment is due, but is deleted", async () => {
    const [orgId, userId] = [randomUUID(), randomUUID()];
    const view = await newView(sessionOf(orgId, { userId }));
    const unpaid = sessionOf(orgId, { userId, billingState: "canceled" });
    const exportedJson = (await fixture.client.exportView({ viewId: view.id }, unpaid)).exportedJson;
    for (const asked of [
      fixture.client.createView({ name: "n" }, unpaid),
      fixture.client.updateView({ viewId: view.id }, unpaid),
      fixture.client.importView({ exportedJson }, unpaid),
      fixture.client.setPreferences({}, unpaid),
    ]) {
      await expect(asked).rejects.toEqual(reason("payment_required"));
    }
    expect((await fixture.client.importView({ exportedJson, dryRun: true }, unpaid)).action).toBe("create");
    await fixture.client.deleteView({ viewId: view.id, expectedUpdatedAt: view.updatedAt }, unpaid);
  });
});

test("a key is not signed in, and a session of a key belongs to no user", async () => {
  const orgId = randomUUID();
  const session = sessionOf(orgId, { userId: "" });
  for (const ask of [
    (call: Call) => fixture.client.listViews({}, call),
    (call: Call) => fixture.client.createView({ name: "n" }, call),
    (call: Call) => fixture.client.getPreferences({}, call),
    (call: Call) => fixture.client.setPreferences({}, call),
  ]) {
    await expect(ask(callOf(orgId))).rejects.toEqual(reason("unauthenticated"));
    await expect(ask(session)).rejects.toEqual(reason("forbidden"));
  }
});

describe("lists of views", () => {
  test("begin with the newest change, then name and id, and have pages", async () => {
    const call = sessionOf();
    const userId = call.identity!.userId;
    for (const name of ["b", "a", "c", "a"]) await newView(call, { name });
    await fixture.ask("UPDATE reports.views SET updated_at = '2026-01-01T00:00:00Z' WHERE owner_user_id = $1", userId);
    await newView(call, { name: "new" });
    const pages = async (limit: number) => {
      const names: string[] = [];
      let cursor = "";
      do {
        const page = await fixture.client.listViews({ limit, cursor }, call);
        names.push(...page.views.map(({ name }) => name));
        cursor = page.nextCursor;
      } while (cursor !== "");
      return names;
    };
    for (const limit of [1, 2, 3, 4, 5, 100]) expect(await pages(limit)).toEqual(["new", "a", "a", "b", "c"]);
  });
});

describe("who deletes or replaces a view", () => {
  test("knows it as it is: one wins, all others learn that it was changed", async () => {
    const call = sessionOf();
    for (const kind of ["delete", "replace", "both"] as const) {
      const view = await newView(call);
      const expected = { expectedUpdatedAt: view.updatedAt };
      const { exportedJson } = await fixture.client.exportView({ viewId: view.id }, call);
      const remove = () => fixture.client.deleteView({ viewId: view.id, ...expected }, call);
      const replace = () =>
        fixture.client.importView(
          { exportedJson, conflictStrategy: "replace", existingViewId: view.id, ...expected },
          call,
        );
      const doers = {
        delete: [remove, remove, remove],
        replace: [replace, replace, replace],
        both: [remove, replace, remove, replace],
      };
      const asked = doers[kind].map((doer) => doer());
      expect(await outcomes(asked)).toEqual([...asked.slice(1).map(() => "conflict"), "done"]);
      // Later, too: the view that they know no longer exists.
      await expect(remove()).rejects.toEqual(reason("conflict"));
    }
  });

  test("must know when it was changed, and gets 404 for what never was", async () => {
    const call = sessionOf();
    const view = await newView(call);
    const remove = (viewId: string, expectedUpdatedAt: string) =>
      fixture.client.deleteView({ viewId, expectedUpdatedAt }, call);
    await expect(remove(view.id, "")).rejects.toEqual(reason("bad_request"));
    await expect(remove(view.id, view.createdAt.replace("Z", "1Z"))).rejects.toEqual(reason("conflict"));
    await expect(remove(randomUUID(), "")).rejects.toEqual(reason("not_found"));
    await fixture.client.updateView({ viewId: view.id }, call);
    await expect(remove(view.id, view.updatedAt)).rejects.toEqual(reason("conflict"));
  });

  test("leaves nothing of its payload", async () => {
    const call = sessionOf();
    const view = await newView(call, { payloadJson: json({ a: "canary" }) });
    await fixture.client.deleteView({ viewId: view.id, expectedUpdatedAt: view.updatedAt }, call);
    await expect(fixture.client.getView({ viewId: view.id }, call)).rejects.toEqual(reason("not_found"));
    await expect(fixture.client.updateView({ viewId: view.id }, call)).rejects.toEqual(reason("not_found"));
    expect((await fixture.client.listViews({}, call)).views).toEqual([]);
    expect(await fixture.ask("SELECT payload FROM reports.views WHERE id = $1", view.id)).toEqual([{ payload: "{}" }]);
  });
});

describe("imports", () => {
  test("make a view, or tell what they would make", async () => {
    const call = sessionOf();
    const view = await newView(call, { project: "p", payloadJson: json({ b: 1, a: { token: "x" } }) });
    const { exportedJson, name } = await fixture.client.exportView({ viewId: view.id }, call);
    expect(name).toBe("Daily");
    const tried = await fixture.client.importView({ exportedJson, dryRun: true, name: "Other", project: "" }, call);
    expect(tried).toMatchObject({ dryRun: true, action: "create", name: "Other", payloadBytes: 14, warnings: [] });
    expect([tried.project, tried.view]).toEqual([undefined, undefined]);
    expect((await fixture.client.listViews({}, call)).views).toHaveLength(1);
    const made = (await fixture.client.importView({ exportedJson }, call)).view!;
    expect([made.name, made.project, text(made.payloadJson)]).toEqual(["Daily", "p", '{"a":{},"b":1}']);
    expect(made.id).not.toBe(view.id);
  });

  test("replace a view for good reasons only, also when they only try", async () => {
    const call = sessionOf();
    const view = await newView(call, { payloadJson: json({ old: 1 }) });
    const other = await newView(call, { name: "Other", payloadJson: json({ new: 1 }) });
    const { exportedJson } = await fixture.client.exportView({ viewId: other.id }, call);
    const replace = (more: object) =>
      fixture.client.importView({ exportedJson, conflictStrategy: "replace", ...more }, call);
    const known = { existingViewId: view.id, expectedUpdatedAt: view.updatedAt };
    for (const dryRun of [true, false]) {
      await expect(replace({ ...known, existingViewId: undefined, dryRun })).rejects.toEqual(reason("bad_request"));
      await expect(replace({ ...known, expectedUpdatedAt: undefined, dryRun })).rejects.toEqual(reason("bad_request"));
      await expect(replace({ ...known, existingViewId: randomUUID(), dryRun })).rejects.toEqual(reason("not_found"));
      await expect(replace({ ...known, expectedUpdatedAt: other.updatedAt, dryRun })).rejects.toEqual(
        reason("conflict"),
      );
      await expect(replace({ ...known, conflictStrategy: "merge", dryRun })).rejects.toEqual(reason("bad_request"));
    }
    expect((await replace({ ...known, dryRun: true })).action).toBe("replace");
    const { action, view: replaced } = await replace(known);
    expect([action, replaced?.id, replaced?.name, text(replaced?.payloadJson)]).toEqual([
      "replace",
      view.id,
      "Other",
      '{"new":1}',
    ]);
  });
});

describe("there are at most", () => {
  const fill = (orgId: string, userId: string, views: number) =>
    fixture.ask(
      "INSERT INTO reports.view_counts (org_id, owner_user_id, views) VALUES ($1, $2, $3)",
      orgId,
      userId,
      views,
    );

  test("200 views of a user, however many are created simultaneously", async () => {
    const call = sessionOf();
    const { orgId, userId } = call.identity!;
    await fill(orgId, userId, VIEWS_MAX.ofUser - 2);
    const made = Array.from({ length: 5 }, () => newView(call));
    expect(await outcomes(made)).toEqual(["bad_request", "bad_request", "bad_request", "done", "done"]);
    const { views } = await fixture.client.listViews({}, call);
    const { exportedJson } = await fixture.client.exportView({ viewId: views[0]!.id }, call);
    for (const dryRun of [true, false]) {
      await expect(fixture.client.importView({ exportedJson, dryRun }, call)).rejects.toEqual(reason("bad_request"));
    }
    await fixture.client.deleteView({ viewId: views[0]!.id, expectedUpdatedAt: views[0]!.updatedAt }, call);
    await newView(call);
  });

  test("1,000 of an organization", async () => {
    const call = sessionOf();
    await fill(call.identity!.orgId, "00000000-0000-0000-0000-000000000000", VIEWS_MAX.ofOrganization - 1);
    await newView(call);
    await expect(newView(sessionOf(call.identity!.orgId))).rejects.toEqual(reason("bad_request"));
  });

  test("as many as the tables have", async () => {
    const counted = await fixture.ask<{ wrong: number }>(
      `SELECT count(*)::integer AS wrong FROM
         (SELECT org_id, owner_user_id, count(*) FILTER (WHERE deleted_at IS NULL) AS live FROM reports.views GROUP BY 1, 2) v
       JOIN reports.view_counts c USING (org_id, owner_user_id) WHERE c.views <> v.live AND c.views < 150`,
    );
    expect(counted).toEqual([{ wrong: 0 }]);
  });
});
