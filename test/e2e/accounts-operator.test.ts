import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { describeModes } from "../stack/modes.ts";
import { asOperator, createTeam, newEmail, newName } from "../stack/people.ts";

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NO_ROW = "00000000-0000-4000-8000-000000000000";

describeModes("the operator's routes", (stack) => {
  const operator = () => asOperator(stack());
  const create = (body: object) => stack().api.post("/api/orgs", body, operator());

  test.each([
    ["GET", "/api/users"],
    ["POST", "/api/users"],
    ["GET", "/api/orgs"],
    ["POST", "/api/orgs"],
    ["PATCH", `/api/orgs/${NO_ROW}`],
    ["GET", `/api/orgs/${NO_ROW}/api-keys`],
    ["POST", `/api/orgs/${NO_ROW}/api-keys`],
  ])("%s %s without credentials, or with a wrong token, is 401", async (method, path) => {
    const body = method === "GET" ? {} : { body: {} };
    for (const token of [undefined, "wrong", `${stack().bootstrapToken}x`]) {
      const headers: Record<string, string> = token === undefined ? {} : { "x-svc-bootstrap-token": token };
      const answer = await stack().api.call(method, path, { ...body, headers });
      expect(answer).toMatchObject({ status: 401, json: { error: "invalid bootstrap token" } });
    }
  });

  test("neither an API key nor a signed-in owner lists the installation's users and organizations", async () => {
    const { api } = await stack().organization({ scopes: ["sdk:ingest", "export:read", "api_keys:write"] });
    const { owner } = await createTeam(stack());
    for (const path of ["/api/users", "/api/orgs"]) {
      for (const answer of [await api.get(path), await owner.browser.get(path)]) {
        expect([401, 403]).toContain(answer.status);
        expect(Object.keys(answer.json)).not.toContain(path.slice("/api/".length));
      }
    }
  });

  test("the token is also taken under the name of the public service", async () => {
    const headers = { "x-instantml-bootstrap-token": stack().bootstrapToken };
    expect((await stack().api.get("/api/users", { headers })).status).toBe(200);
  });

  test("POST /api/users makes a user, and GET lists it", async () => {
    const email = newEmail();
    const made = await stack().api.post("/api/users", { email, display_name: "Ada" }, operator());
    expect(made.status).toBe(200);
    expect(made.json.user).toEqual({
      id: expect.stringMatching(UUID),
      primary_email: email,
      display_name: "Ada",
      avatar_url: null,
      created_at: expect.stringMatching(RFC3339),
      last_seen_at: null,
    });
    const { users } = (await stack().api.get("/api/users?limit=1000", operator())).json;
    expect(users).toContainEqual(made.json.user);
  });

  test("POST /api/users also reads the address from primary_email", async () => {
    const email = newEmail();
    const made = await stack().api.post("/api/users", { primary_email: email }, operator());
    expect(made).toMatchObject({ status: 200, json: { user: { primary_email: email, display_name: null } } });
  });

  test.each([
    ["no address", {}],
    ["a number for an address", { email: 7 }],
    ["a blank address", { email: " " }],
    ["no address at all in it", { email: "nobody" }],
    ["an address of more than 512 bytes", { email: `${"a".repeat(512)}@example.test` }],
  ])("POST /api/users with %s is 400", async (_what, body) => {
    const answer = await stack().api.post("/api/users", body, operator());
    expect(answer).toMatchObject({ status: 400, json: { error: expect.any(String) } });
  });

  test("POST /api/orgs makes an organization with its owner", async () => {
    const { user } = (await stack().api.post("/api/users", { email: newEmail() }, operator())).json;
    const name = newName();
    const made = await create({ name, slug: name, plan_tier: "pro", owner_user_id: user.id });
    expect(made.status).toBe(200);
    const { organization } = made.json;
    expect(organization).toMatchObject({
      id: expect.stringMatching(UUID),
      slug: name,
      name,
      plan_tier: "pro",
      account_type: "customer",
      seat_limit: 3,
      created_by_user_id: user.id,
      created_at: expect.stringMatching(RFC3339),
    });
    const fields = ["tenant_routing_tier", "storage_choice", "storage_state"];
    expect(Object.keys(organization)).toEqual(expect.arrayContaining(fields));
    const { organizations } = (await stack().api.get("/api/orgs?limit=1000", operator())).json;
    expect(organizations).toContainEqual(organization);
  });

  test("a name alone gives the slug, a slug alone the name, and the plan is free", async () => {
    const name = newName();
    const named = (await create({ name: `The ${name}` })).json.organization;
    expect(named).toMatchObject({ name: `The ${name}`, slug: `the-${name}`, plan_tier: "free", seat_limit: 2 });
    expect((await create({ slug: name })).json.organization.slug).toBe(name);
  });

  test.each([["growth", "premium"]])("plan_tier %s is the plan %s", async (plan, stored) => {
    expect((await create({ slug: newName(), plan_tier: plan })).json.organization.plan_tier).toBe(stored);
  });

  test("a slug that is taken is 409", async () => {
    const slug = newName();
    expect((await create({ slug })).status).toBe(200);
    expect(await create({ slug })).toMatchObject({ status: 409, json: { error: expect.any(String) } });
  });

  test("ten organizations of one slug, made simultaneously, are one, and ten users of one address are one", async () => {
    const [slug, email] = [newName(), newEmail()];
    const made = await Promise.all(Array.from({ length: 10 }, () => create({ slug })));
    expect(made.map(({ status }) => String(status)).toSorted()).toEqual([
      "200",
      ...Array.from({ length: 9 }, () => "409"),
    ]);
    await Promise.all(Array.from({ length: 10 }, () => stack().api.post("/api/users", { email }, operator())));
    const { users } = (await stack().api.get("/api/users?limit=1000", operator())).json;
    expect(users.filter((user: { primary_email: string }) => user.primary_email === email)).toHaveLength(1);
  });

  test("an owner who does not exist is 404, and the organization is not created", async () => {
    const slug = newName();
    expect((await create({ slug, owner_user_id: randomUUID() })).status).toBe(404);
    expect((await create({ slug })).status).toBe(200);
  });

  test.each([
    ["neither name nor slug", {}],
    ["a slug with capitals", { slug: "Team" }],
    ["a slug with a blank", { slug: "a team" }],
    ["a slug of 64 characters", { slug: "a".repeat(64) }],
    ["a name of more than 512 bytes", { name: "é".repeat(257) }],
    ["an unknown plan", { slug: newName(), plan_tier: "gold" }],
    ["an owner that is not an id", { slug: newName(), owner_user_id: "me" }],
  ])("POST /api/orgs with %s is 400", async (_what, body) => {
    expect(await create(body)).toMatchObject({ status: 400, json: { error: expect.any(String) } });
  });

  test.each(["/api/users", "/api/orgs"])("GET %s is paged by limit and offset", async (path) => {
    for (let made = 0; made < 3; made += 1) {
      await stack().api.post("/api/users", { email: newEmail() }, operator());
      await create({ slug: newName() });
    }
    const list = async (query: string): Promise<{ id: string }[]> =>
      (await stack().api.get(`${path}?${query}`, operator())).json[path === "/api/users" ? "users" : "organizations"];
    const ids = (await list("limit=1000")).map(({ id }) => id);
    const pages = [...(await list("limit=2&offset=0")), ...(await list("limit=1&offset=2"))];
    expect(pages.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    expect((await list("limit=&offset=")).map(({ id }) => id)).toEqual(ids.slice(0, 100));
    for (const query of ["limit=0", "limit=1001", "limit=ten", "limit=1.5", "offset=-1", "offset=x"]) {
      expect([query, (await stack().api.get(`${path}?${query}`, operator())).status]).toEqual([query, 400]);
    }
  });

  test("PATCH sets plan and billing state, each without the other", async () => {
    const { orgId } = await stack().organization({ plan: "free" });
    const patch = (body: object) => stack().api.patch(`/api/orgs/${orgId}`, body, operator());
    expect(await patch({ plan_tier: "premium" })).toMatchObject({
      status: 200,
      json: { organization: { id: orgId, plan_tier: "premium" } },
    });
    expect(await patch({ billing_state: "past_due_grace" })).toMatchObject({
      status: 200,
      json: { organization: { id: orgId, plan_tier: "premium", billing_state: "past_due_grace" } },
    });
  });

  test("PATCH looks for the organization before it looks at the body", async () => {
    const { orgId } = await stack().organization();
    for (const body of [{ billing_state: "broke" }, { plan_tier: "gold" }, { plan_tier: 1 }]) {
      expect((await stack().api.patch(`/api/orgs/${orgId}`, body, operator())).status).toBe(400);
      expect((await stack().api.patch(`/api/orgs/${randomUUID()}`, body, operator())).status).toBe(404);
    }
    expect((await stack().api.patch("/api/orgs/none", { plan_tier: "pro" }, operator())).status).toBe(404);
  });

  test("users cannot upgrade the plan of their own organization", async () => {
    const { owner, orgId } = await createTeam(stack(), "free");
    const { api, orgId: keyOrg } = await stack().organization({
      plan: "free",
      scopes: ["api_keys:write", "sdk:ingest"],
    });
    expect([401, 403]).toContain((await owner.browser.patch(`/api/orgs/${orgId}`, { plan_tier: "premium" })).status);
    expect([401, 403]).toContain((await api.patch(`/api/orgs/${keyOrg}`, { plan_tier: "premium" })).status);
    const { organizations } = (await stack().api.get("/api/orgs?limit=1000", operator())).json;
    const plans = organizations.filter(({ id }: { id: string }) => id === orgId || id === keyOrg);
    expect(plans).toMatchObject([{ plan_tier: "free" }, { plan_tier: "free" }]);
  });

  test.each(["canceled"])("an organization in the state %s writes nothing, yet reads and revokes", async (state) => {
    const { orgId, owner } = await createTeam(stack());
    const { browser } = owner;
    const { id } = (await browser.post("/runs", {})).json.run;
    const made = (await browser.post(`/api/orgs/${orgId}/api-keys`, {})).json;
    const changed = await stack().api.patch(`/api/orgs/${orgId}`, { billing_state: state }, operator());
    expect(changed.json).toMatchObject({ organization: { billing_state: state } });

    for (const [path, body] of [
      ["/runs", {}],
      [`/api/orgs/${orgId}/api-keys`, { name: "one more" }],
      [`/api/orgs/${orgId}/seats`, { email: newEmail() }],
      [`/api/orgs/${orgId}/invitations`, { email: newEmail(), role: "member" }],
    ] as const) {
      const refused = await browser.post(path, body);
      expect([path, refused.status, refused.json.code]).toEqual([path, 402, "payment_required"]);
    }
    for (const path of ["/runs", `/runs/${id}`, "/projects", `/api/orgs/${orgId}/api-keys`]) {
      expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
    }
    const key = stack().api.as(made.api_key);
    expect((await key.post(`/runs/${id}/metrics`, { metrics: { loss: 1 }, step: 0 })).status).toBe(402);
    expect((await key.patch(`/runs/${id}`, { status: "finished" })).status).toBe(402);
    expect((await browser.post(`/api/orgs/${orgId}/api-keys/${made.key.id}/revoke`)).status).toBe(200);
  });

  test.each(["free_active", "paid_active", "past_due_grace"])(
    "an organization in the state %s writes",
    async (state) => {
      const { api, orgId } = await stack().organization({ plan: "pro" });
      await stack().api.patch(`/api/orgs/${orgId}`, { billing_state: "canceled" }, operator());
      expect((await api.post("/runs", {})).status).toBe(402);
      await stack().api.patch(`/api/orgs/${orgId}`, { billing_state: state }, operator());
      expect((await api.post("/runs", {})).status).toBe(200);
    },
  );
});
