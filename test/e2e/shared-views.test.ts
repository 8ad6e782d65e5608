import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { openBrowser, type Browser, createTeam, signIn } from "../stack/people.ts";
import { describeModes } from "../stack/modes.ts";

const PATH = "/api/workspace-views";
type View = { id: string; updated_at: string } & Record<string, unknown>;

const create = async (browser: Browser, body: object = {}): Promise<View> => {
  const answer = await browser.post(PATH, { name: "Daily", visibility: "organization", ...body });
  expect(answer.status).toBe(200);
  return answer.json.workspace_view as View;
};
const one = ({ id }: Pick<View, "id">): string => `${PATH}/${id}`;
const put = (browser: Browser, view: View, body: object) => browser.call("PUT", one(view), { body });
const remove = (browser: Browser, view: View, query?: string) =>
  browser.call("DELETE", `${one(view)}?${query ?? `expected_updated_at=${encodeURIComponent(view.updated_at)}`}`);
const list = async (browser: Browser): Promise<View[]> => (await browser.get(PATH)).json.workspace_views;
const gone = { status: 404, json: { error: "workspace view not found" } };

describeModes("workspace views that are shared", (stack) => {
  test("are in the lists of all members, who read and export them, and in no other organization", async () => {
    const team = await createTeam(stack());
    const { browser, userId } = await team.join("member");
    const view = await create(browser, { project: "p", payload: { sections: [] } });
    expect(view).toMatchObject({ owner_user_id: userId, visibility: "organization", is_owner: true });
    const summary = {
      id: view.id,
      name: "Daily",
      project: "p",
      created_at: view["created_at"],
      updated_at: view.updated_at,
      owner_user_id: userId,
      visibility: "organization",
    };
    expect(await list(browser)).toEqual([{ ...summary, is_owner: true }]);
    for (const reader of [team.owner, await team.join("admin"), await team.join("member"), await team.join("viewer")]) {
      expect(await list(reader.browser)).toEqual([{ ...summary, is_owner: false }]);
      expect((await reader.browser.get(one(view))).json.workspace_view).toEqual({ ...view, is_owner: false });
      const file = await reader.browser.get(`${one(view)}/export`);
      expect([file.status, file.json.view]).toEqual([200, { name: "Daily", project: "p", payload: { sections: [] } }]);
    }
    const stranger = await signIn(stack());
    expect(await list(stranger.browser)).toEqual([]);
    for (const asked of [
      stranger.browser.get(one(view)),
      stranger.browser.get(`${one(view)}/export`),
      put(stranger.browser, view, {}),
      remove(stranger.browser, view),
    ]) {
      expect(await asked).toMatchObject(gone);
    }
    // A key has no views, and a session that was made of one belongs to no user.
    const keys = `/api/orgs/${team.orgId}/api-keys`;
    const { api_key } = (await team.owner.browser.post(keys, { name: "k", scopes: ["export:read", "sdk:ingest"] }))
      .json;
    const ofKey = openBrowser(stack().baseUrl);
    expect((await ofKey.post("/api/auth/api-key", { api_key })).status).toBe(200);
    for (const path of [PATH, one(view), `${one(view)}/export`]) {
      expect((await stack().api.as(api_key).get(path)).status).toBe(401);
      expect((await ofKey.get(path)).status).toBe(403);
    }
    expect((await put(ofKey, view, {})).status).toBe(403);
    expect((await remove(ofKey, view)).status).toBe(403);
    expect((await ofKey.post(PATH, { name: "n", visibility: "organization" })).status).toBe(403);
  });

  test("are changed by their owner alone: others get 403, before their fields are judged", async () => {
    const team = await createTeam(stack());
    const { browser } = await team.join("member");
    const view = await create(browser);
    const exported_view = (await browser.get(`${one(view)}/export`)).json;
    const replace = {
      exported_view,
      conflict_strategy: "replace",
      existing_view_id: view.id,
      expected_updated_at: view.updated_at,
    };
    for (const other of [team.owner, await team.join("admin"), await team.join("member")]) {
      for (const body of [{}, { name: "" }, { visibility: "private" }]) {
        expect((await put(other.browser, view, body)).status).toBe(403);
      }
      for (const dry_run of [true, false]) {
        expect((await other.browser.post(`${PATH}/import`, { ...replace, dry_run })).status).toBe(403);
      }
    }
    const member = await team.join("member");
    expect((await remove(member.browser, view)).status).toBe(403);
    expect((await remove(member.browser, view, "")).status).toBe(403);
    expect((await browser.get(one(view))).json.workspace_view).toEqual(view);
    const changed = (await put(browser, view, { name: "Weekly" })).json.workspace_view as View;
    expect((await member.browser.get(one(view))).json.workspace_view).toMatchObject({ name: "Weekly" });
    expect((await put(browser, changed, { visibility: "private" })).json.workspace_view).not.toHaveProperty("is_owner");
    expect(await member.browser.get(one(view))).toMatchObject(gone);
    expect(await put(member.browser, view, {})).toMatchObject(gone);
    expect(await list(member.browser)).toEqual([]);
  });

  test("of a member who was removed stay until an owner or admin deletes them", async () => {
    const team = await createTeam(stack());
    const [leaver, admin] = [await team.join("member"), await team.join("admin")];
    const [shared, own] = [await create(leaver.browser), await create(leaver.browser, { visibility: "private" })];
    const { seats } = (await team.owner.browser.get(`/api/orgs/${team.orgId}/seats`)).json;
    const seat = seats.find(({ user }: { user: { id: string } }) => user.id === leaver.userId);
    const path = `/api/orgs/${team.orgId}/seats/${seat.membership.id}`;
    expect((await team.owner.browser.call("DELETE", path)).status).toBe(200);
    expect((await leaver.browser.get(one(shared))).status).toBe(401);
    expect(await list(admin.browser)).toMatchObject([{ id: shared.id, owner_user_id: leaver.userId }]);
    expect(await remove(admin.browser, own)).toMatchObject(gone);
    expect((await remove(admin.browser, shared, "")).status).toBe(400);
    expect((await remove(admin.browser, shared, "expected_updated_at=2020-01-01T00:00:00Z")).status).toBe(409);
    expect((await remove(admin.browser, shared)).json).toMatchObject({ deleted: true, view_id: shared.id });
    expect((await remove(team.owner.browser, shared)).status).toBe(409);
    expect(await list(team.owner.browser)).toEqual([]);
  });

  test("are refused with 400 for a visibility that is none", async () => {
    const { browser } = await signIn(stack());
    const view = await create(browser);
    for (const visibility of ["org", "public", "", 1, true, ["organization"]]) {
      const refused = { status: 400, json: { field: "visibility" } };
      expect(await browser.post(PATH, { name: "n", visibility })).toMatchObject(refused);
      expect(await put(browser, view, { visibility })).toMatchObject(refused);
    }
    expect((await put(browser, view, { visibility: null })).json.workspace_view).toMatchObject({
      visibility: "organization",
    });
    expect(await list(browser)).toHaveLength(1);
    expect(await put(browser, { ...view, id: randomUUID() }, { visibility: "org" })).toMatchObject(gone);
  });

  test("are private without the field, and show nothing of it", async () => {
    const team = await createTeam(stack());
    for (const visibility of [undefined, "private", null]) {
      const view = await create(team.owner.browser, { visibility });
      for (const member of ["visibility", "is_owner"]) expect(view).not.toHaveProperty(member);
    }
    const rows = await list(team.owner.browser);
    expect(rows.map((row) => Object.keys(row).toSorted())).toEqual(
      rows.map(() => ["created_at", "id", "name", "project", "updated_at"]),
    );
    expect(await list((await team.join("admin")).browser)).toEqual([]);
  });
});
