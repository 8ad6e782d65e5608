import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { asOperator, createTeam } from "../stack/people.ts";

type Keys = { revoked_at: string | null }[];

const NO_ROW = "00000000-0000-4000-8000-000000000000";
const everyScope = [
  "sdk:ingest",
  "export:read",
  "runs:control",
  "artifacts:write",
  "artifacts:manage",
  "imports:write",
  "usage:read",
  "api_keys:write",
];

describeModes("who may hand out API keys", (stack) => {
  const keyOf = async (orgId: string, body: object): Promise<Api> =>
    stack().api.as((await stack().api.post(`/api/orgs/${orgId}/api-keys`, body, asOperator(stack()))).json.api_key);

  test("a key with api_keys:write makes, lists and revokes keys", async () => {
    const { orgId } = await stack().organization();
    const keeper = await keyOf(orgId, { scopes: ["api_keys:write", "export:read"] });
    const path = `/api/orgs/${orgId}/api-keys`;
    const made = await keeper.post(path, { name: "reader", scopes: ["export:read"] });
    expect(made).toMatchObject({ status: 200, json: { key: { org_id: orgId, scopes: ["export:read"] } } });
    const reader = stack().api.as(made.json.api_key);
    expect((await reader.get("/runs")).status).toBe(200);
    expect((await keeper.get(path)).json.api_keys).toHaveLength(3);
    expect((await keeper.post(`${path}/${made.json.key.id}/revoke`)).status).toBe(200);
    expect((await reader.get("/runs")).status).toBe(401);
  });

  test("a key disables a service account, also its own", async () => {
    const { orgId } = await stack().organization();
    const made = await stack().api.post(
      `/api/orgs/${orgId}/api-keys`,
      { scopes: ["api_keys:write"] },
      asOperator(stack()),
    );
    const keeper = stack().api.as(made.json.api_key);
    const path = `/api/orgs/${orgId}/service-accounts/${made.json.service_account.id}/disable`;
    expect((await keeper.post(path)).status).toBe(200);
    expect((await keeper.get(`/api/orgs/${orgId}/api-keys`)).status).toBe(401);
  });

  test("a key grants only scopes that it holds itself", async () => {
    const { orgId } = await stack().organization();
    const keeper = await keyOf(orgId, { scopes: ["api_keys:write", "export:read"] });
    const path = `/api/orgs/${orgId}/api-keys`;
    for (const scope of everyScope) {
      const answer = await keeper.post(path, { scopes: ["export:read", scope] });
      const held = scope === "export:read" || scope === "api_keys:write";
      expect([scope, answer.status]).toEqual([scope, held ? 200 : 403]);
    }
    expect((await keeper.post(path, { scopes: ["root"] })).status).toBe(400);
    const unasked = await keeper.post(path, {});
    expect(unasked.status === 403 || !unasked.json.key.scopes.includes("sdk:ingest")).toBe(true);
  });

  test("a key that is bound to a project never grants beyond it", async () => {
    const { api, orgId } = await stack().organization();
    const { project: mine } = (await api.post("/projects", { name: "mine" })).json;
    const { project: other } = (await api.post("/projects", { name: "other" })).json;
    const bound = await keyOf(orgId, { scopes: ["api_keys:write", "export:read"], project: "mine" });
    const path = `/api/orgs/${orgId}/api-keys`;
    expect([403, 404]).toContain((await bound.post(path, { scopes: ["export:read"], project: "other" })).status);
    expect([403, 404]).toContain((await bound.post(path, { scopes: ["export:read"], project_id: other.id })).status);
    const unbound = await bound.post(path, { scopes: ["export:read"] });
    expect(unbound.status === 403 || unbound.json.key.project_id === mine.id).toBe(true);
  });

  test.each([
    ["GET", "api-keys"],
    ["POST", "api-keys"],
    ["POST", `api-keys/${NO_ROW}/revoke`],
    ["POST", `service-accounts/${NO_ROW}/disable`],
  ])("%s %s with a key that has every scope but api_keys:write is 403", async (method, rest) => {
    const scopes = everyScope.filter((scope) => scope !== "api_keys:write");
    const { api, orgId } = await stack().organization({ scopes });
    const answer = await api.call(method, `/api/orgs/${orgId}/${rest}`, method === "GET" ? {} : { body: {} });
    expect(answer).toMatchObject({ status: 403, json: { error: "api key requires api_keys:write" } });
  });

  test.each(["owner", "admin"] as const)("an %s's session grants every scope there is", async (role) => {
    const team = await createTeam(stack());
    const { browser, userId } = role === "owner" ? team.owner : await team.join("admin");
    const made = await browser.post(`/api/orgs/${team.orgId}/api-keys`, { name: "all", scopes: everyScope });
    expect(made).toMatchObject({ status: 200, json: { service_account: { created_by_user_id: userId } } });
    expect(new Set(made.json.key.scopes)).toEqual(new Set(everyScope));
    const plain = await browser.post(`/api/orgs/${team.orgId}/api-keys`, {});
    expect(new Set(plain.json.key.scopes)).toEqual(new Set(["export:read", "sdk:ingest"]));
    expect((await browser.post(`/api/orgs/${team.orgId}/api-keys/${made.json.key.id}/revoke`)).status).toBe(200);
    expect((await stack().api.as(made.json.api_key).get("/runs")).status).toBe(401);
  });

  test.each(["member", "viewer"] as const)("a %s's session neither makes nor sees nor revokes keys", async (role) => {
    const team = await createTeam(stack());
    const path = `/api/orgs/${team.orgId}/api-keys`;
    const { key, service_account: account } = (await team.owner.browser.post(path, {})).json;
    const { browser } = await team.join(role);
    expect((await browser.post(path, {})).status).toBe(403);
    expect((await browser.get(path)).status).toBe(403);
    expect((await browser.post(`${path}/${key.id}/revoke`)).status).toBe(403);
    const disable = `/api/orgs/${team.orgId}/service-accounts/${account.id}/disable`;
    expect((await browser.post(disable)).status).toBe(403);
    const keys: Keys = (await team.owner.browser.get(path)).json.api_keys;
    expect(keys.map(({ revoked_at: revokedAt }) => revokedAt)).toEqual([null]);
  });

  test("another organization's keys are as if it did not exist, for keys and for owners", async () => {
    const victim = await stack().organization();
    const { api } = await stack().organization({ scopes: everyScope });
    const { owner } = await createTeam(stack());
    for (const caller of [api, owner.browser]) {
      for (const rest of ["api-keys", `api-keys/${randomUUID()}/revoke`, `service-accounts/${randomUUID()}/disable`]) {
        const foreign = await caller.post(`/api/orgs/${victim.orgId}/${rest}`);
        const absent = await caller.post(`/api/orgs/${randomUUID()}/${rest}`);
        expect([rest, foreign.status, foreign.text]).toEqual([rest, 404, absent.text]);
      }
      expect((await caller.get(`/api/orgs/${victim.orgId}/api-keys`)).status).toBe(404);
    }
  });
});
