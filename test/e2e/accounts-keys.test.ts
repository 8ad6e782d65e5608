import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { until } from "@tidemark/testkit";
import type { Answer } from "../stack/client.ts";
import { describeOwnModes } from "../stack/modes.ts";
import { asOperator, createTeam, newEmail } from "../stack/people.ts";

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const KEY = /^tm_[0-9A-Za-z]+_[0-9A-Za-z]+_[0-9A-Za-z]+$/;

describeOwnModes("API keys", (stack) => {
  const operator = () => asOperator(stack());
  const issue = (orgId: string, body: object = {}): Promise<Answer> =>
    stack().api.post(`/api/orgs/${orgId}/api-keys`, body, operator());
  const list = async (orgId: string, query = ""): Promise<Record<string, unknown>[]> =>
    (await stack().api.get(`/api/orgs/${orgId}/api-keys${query}`, operator())).json.api_keys;

  test("a key is created with every field, and belongs to its own service account", async () => {
    const { api, orgId } = await stack().organization();
    const { project } = (await api.post("/projects", { name: "vision" })).json;
    const { user } = (await stack().api.post("/api/users", { email: newEmail() }, operator())).json;
    const made = await issue(orgId, {
      name: " ci ",
      scopes: ["export:read", "runs:control"],
      project_id: project.id,
      project: "vision",
      expires_at: "2999-01-01T02:00:00+02:00",
      created_by_user_id: user.id,
    });
    expect(made.status).toBe(200);
    const { api_key: text, key, service_account: account } = made.json;
    expect(text).toMatch(KEY);
    expect(made.json).toMatchObject({ api_key_available: true, message: null });
    expect(key).toEqual({
      id: expect.stringMatching(UUID),
      org_id: orgId,
      service_account_id: account.id,
      name: "ci",
      key_prefix: text.slice(0, 14),
      scopes: expect.arrayContaining(["export:read", "runs:control"]),
      project_id: project.id,
      created_at: expect.stringMatching(RFC3339),
      expires_at: expect.stringMatching(/^2999-01-01T00:00:00(\.0+)?Z$/),
      last_used_at: null,
      revoked_at: null,
      created_by_user_id: user.id,
    });
    expect(key.scopes).toHaveLength(2);
    expect(account).toEqual({
      id: expect.stringMatching(UUID),
      org_id: orgId,
      name: "ci",
      created_by_user_id: user.id,
      created_at: expect.stringMatching(RFC3339),
      disabled_at: null,
    });
    expect((await issue(orgId, {})).json.service_account.id).not.toBe(account.id);
  });

  test("a key that is requested with an empty body ingests and reads in the whole organization, forever", async () => {
    const { orgId } = await stack().organization();
    const { api_key: text, key } = (await issue(orgId)).json;
    expect(key).toMatchObject({ name: "SDK API key", project_id: null, expires_at: null });
    expect(new Set(key.scopes)).toEqual(new Set(["export:read", "sdk:ingest"]));
    const api = stack().api.as(text);
    expect((await api.post("/runs", {})).status).toBe(200);
    expect((await api.get("/runs")).status).toBe(200);
  });

  test("the text of a key is shown once: the list has its first 14 characters, also when it is revoked", async () => {
    const { orgId, key: firstText } = await stack().organization();
    const { api_key: text, key } = (await issue(orgId, { name: "second" })).json;
    await stack().api.post(`/api/orgs/${orgId}/api-keys/${key.id}/revoke`, {}, operator());
    const answer = await stack().api.get(`/api/orgs/${orgId}/api-keys`, operator());
    expect(answer.json.api_keys).toHaveLength(2);
    expect(answer.json.api_keys).toContainEqual({ ...key, revoked_at: expect.stringMatching(RFC3339) });
    for (const secret of [firstText, text]) {
      expect(answer.text).toContain(secret.slice(0, 14));
      expect(answer.text).not.toContain(secret.split("_")[2]);
    }
  });

  test("the list of keys is paged by limit and offset", async () => {
    const { orgId } = await stack().organization();
    await issue(orgId, { name: "b" });
    await issue(orgId, { name: "c" });
    const all = await list(orgId);
    expect(all).toHaveLength(3);
    expect([...(await list(orgId, "?limit=2")), ...(await list(orgId, "?limit=2&offset=2"))]).toEqual(all);
    expect(await list(orgId, "?limit=&offset=")).toEqual(all);
    for (const query of ["limit=0", "limit=1001", "limit=x", "offset=-1", "offset=1.5"]) {
      const answer = await stack().api.get(`/api/orgs/${orgId}/api-keys?${query}`, operator());
      expect([query, answer.status]).toEqual([query, 400]);
    }
  });

  test.each([
    ["an unknown scope", { scopes: ["sdk:ingest", "root"] }],
    ["scopes that are not a list", { scopes: "sdk:ingest" }],
    ["a scope that is not a text", { scopes: [1] }],
    ["a name of more than 512 bytes", { name: "x".repeat(513) }],
    ["a name with NUL", { name: "a\u0000b" }],
    ["a name that is not a text", { name: {} }],
    ["a project id that is not an id", { project_id: "vision" }],
    ["an end that is not a time", { expires_at: "tomorrow" }],
    ["an end without a zone", { expires_at: "2999-01-01T00:00:00" }],
  ])("%s is 400 and makes no key", async (_what, body) => {
    const { orgId } = await stack().organization();
    expect(await issue(orgId, body)).toMatchObject({ status: 400, json: { error: expect.any(String) } });
    expect(await list(orgId)).toHaveLength(1);
  });

  test("an organization that does not exist is 404 before anything is said of the body", async () => {
    for (const orgId of [randomUUID(), "acme"]) {
      expect((await issue(orgId, { scopes: ["root"] })).status).toBe(404);
      expect((await stack().api.get(`/api/orgs/${orgId}/api-keys`, operator())).status).toBe(404);
    }
  });

  test("a project that is unknown, or another organization's, is 404; id and name of two projects are 400", async () => {
    const { api, orgId } = await stack().organization();
    const other = await stack().organization();
    const { project: mine } = (await api.post("/projects", { name: "mine" })).json;
    await api.post("/projects", { name: "second" });
    const { project: foreign } = (await other.api.post("/projects", { name: "foreign" })).json;
    expect((await issue(orgId, { project: "nowhere" })).status).toBe(404);
    expect((await issue(orgId, { project_id: randomUUID() })).status).toBe(404);
    expect((await issue(orgId, { project_id: foreign.id })).status).toBe(404);
    expect((await issue(orgId, { project: "foreign" })).status).toBe(404);
    expect((await issue(orgId, { project: "second", project_id: mine.id })).status).toBe(400);
    expect((await issue(orgId, { project: "mine" })).json.key.project_id).toBe(mine.id);
  });

  test("a revoked key is refused from the answer on, and revoking it again says the same", async () => {
    const { api, orgId } = await stack().organization();
    const { api_key: text, key } = (await issue(orgId)).json;
    const revoked = stack().api.as(text);
    expect((await revoked.get("/runs")).status).toBe(200);
    const path = `/api/orgs/${orgId}/api-keys/${key.id}/revoke`;
    const first = await stack().api.call("POST", path, operator());
    expect(first.status).toBe(200);
    expect(first.json.key).toMatchObject({ id: key.id, revoked_at: expect.stringMatching(RFC3339) });
    for (const answer of [await revoked.get("/runs"), await revoked.post("/runs", {})]) {
      expect(answer).toMatchObject({ status: 401, json: { error: expect.any(String) } });
    }
    const { headers } = operator();
    for (const again of [
      { body: {} },
      { rawBody: "", headers: { "content-type": "application/json" } },
      { rawBody: "", headers: { "content-type": "text/plain" } },
    ]) {
      const second = await stack().api.call("POST", path, { ...again, headers: { ...headers, ...again.headers } });
      expect([second.status, second.json.key.revoked_at]).toEqual([200, first.json.key.revoked_at]);
    }
    expect((await api.get("/runs")).status).toBe(200);
  });

  test("a service account that is disabled takes its key with it, and no other", async () => {
    const { api, orgId } = await stack().organization();
    const { api_key: text, service_account: account } = (await issue(orgId)).json;
    const disabled = stack().api.as(text);
    expect((await disabled.get("/runs")).status).toBe(200);
    const answer = await stack().api.post(`/api/orgs/${orgId}/service-accounts/${account.id}/disable`, {}, operator());
    expect(answer.status).toBe(200);
    expect(answer.json.service_account).toEqual({ ...account, disabled_at: expect.stringMatching(RFC3339) });
    expect((await disabled.get("/runs")).status).toBe(401);
    expect((await api.get("/runs")).status).toBe(200);
  });

  test("a key is refused when its time is over", async () => {
    const { orgId } = await stack().organization();
    const expiresAt = new Date(Date.now() + 1500).toISOString();
    const { api_key: text, key } = (await issue(orgId, { expires_at: expiresAt })).json;
    expect(Date.parse(key.expires_at)).toBe(Date.parse(expiresAt));
    const api = stack().api.as(text);
    expect((await api.get("/runs")).status).toBe(200);
    await until("the end of the key", async () => (await api.get("/runs")).status === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
  });

  test("the time at which a key was last used outlives the process that noted it", async () => {
    const { api, orgId } = await stack().organization();
    expect((await api.get("/runs")).status).toBe(200);
    await stack().children.get("gateway")?.end();
    await stack().restart("gateway");
    const used = await until("the use of the key", async () => (await list(orgId))[0]?.["last_used_at"]);
    expect(used).toEqual(expect.stringMatching(RFC3339));
  });

  test.each([
    ["a key", "api-keys", "revoke"],
    ["a service account", "service-accounts", "disable"],
  ])("%s that does not exist, or that another organization has, is 404 and unharmed", async (_what, kind, verb) => {
    const { orgId } = await stack().organization();
    const other = await stack().organization();
    const victim = (await issue(other.orgId)).json;
    const { owner, orgId: teamId } = await createTeam(stack());
    const foreign = kind === "api-keys" ? victim.key.id : victim.service_account.id;
    const absent = await stack().api.post(`/api/orgs/${orgId}/${kind}/${randomUUID()}/${verb}`, {}, operator());
    expect(absent.status).toBe(404);
    for (const answer of [
      await stack().api.post(`/api/orgs/${orgId}/${kind}/${foreign}/${verb}`, {}, operator()),
      await stack().api.post(`/api/orgs/${orgId}/${kind}/nonsense/${verb}`, {}, operator()),
      await owner.browser.post(`/api/orgs/${teamId}/${kind}/${foreign}/${verb}`),
    ]) {
      expect([answer.status, answer.text]).toEqual([404, absent.text]);
    }
    expect((await owner.browser.post(`/api/orgs/${other.orgId}/${kind}/${foreign}/${verb}`)).status).toBe(404);
    expect((await stack().api.as(victim.api_key).get("/runs")).status).toBe(200);
  });
});
