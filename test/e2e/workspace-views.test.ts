import { createHash, randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { type Browser, asOperator, createTeam, signIn } from "../stack/people.ts";
import { describeModes } from "../stack/modes.ts";

const PATH = "/api/workspace-views";
type View = { id: string; name: string; updated_at: string } & Record<string, unknown>;

const create = async (browser: Browser, body: object = {}): Promise<View> => {
  const answer = await browser.post(PATH, { name: "Daily", ...body });
  expect(answer.status).toBe(200);
  return answer.json.workspace_view as View;
};
const one = ({ id }: Pick<View, "id">): string => `${PATH}/${id}`;
const put = (browser: Browser, view: View, body: object) => browser.call("PUT", one(view), { body });
const remove = (browser: Browser, { id, updated_at }: Pick<View, "id" | "updated_at">) =>
  browser.call("DELETE", `${PATH}/${id}?expected_updated_at=${encodeURIComponent(updated_at)}`);
const importBody = (exported_view: unknown, more: object = {}) => ({ exported_view, dry_run: false, ...more });

describeModes("workspace views", (stack) => {
  test("are saved, read, changed, listed and deleted", async () => {
    const { browser, orgId, userId } = await signIn(stack());
    const view = await create(browser, { project: "p", payload: { sections: [] } });
    expect(view).toEqual({
      schema_version: 1,
      id: expect.any(String),
      org_id: orgId,
      owner_user_id: userId,
      name: "Daily",
      project: "p",
      payload: { sections: [] },
      created_at: expect.any(String),
      updated_at: expect.any(String),
      deleted_at: null,
    });
    expect((await browser.get(one(view))).json.workspace_view).toEqual(view);
    const changed = (await put(browser, view, { name: "Weekly", project: "" })).json.workspace_view as View;
    expect(changed).toMatchObject({ name: "Weekly", project: null, payload: { sections: [] } });
    expect(changed.updated_at > view.updated_at).toBe(true);
    const { payload: _payload, ...rest } = changed;
    const list = (await browser.get(PATH)).json;
    expect(list.next_cursor).toBeNull();
    expect(list.workspace_views).toHaveLength(1);
    expect(rest).toMatchObject(list.workspace_views[0]);
    expect(list.workspace_views[0]).not.toHaveProperty("payload");
    const deleted = await remove(browser, changed);
    expect(deleted.json).toEqual({ deleted: true, view_id: view.id, deleted_at: expect.any(String) });
    expect((await browser.get(one(view))).status).toBe(404);
    expect((await browser.get(PATH)).json.workspace_views).toEqual([]);
  });

  test("are listed page by page", async () => {
    const { browser } = await signIn(stack());
    for (const name of ["a", "b", "c"]) await create(browser, { name });
    const first = (await browser.get(`${PATH}?limit=2`)).json;
    const second = (await browser.get(`${PATH}?limit=2&cursor=${first.next_cursor}`)).json;
    const names = [...first.workspace_views, ...second.workspace_views].map(({ name }: View) => name);
    expect([names, second.next_cursor]).toEqual([["c", "b", "a"], null]);
    for (const query of ["limit=0", "limit=101", "cursor=x"]) {
      expect([query, (await browser.get(`${PATH}?${query}`)).status]).toEqual([query, 400]);
    }
  });

  test("of others are 404, in the same organization too, before anything is judged", async () => {
    const team = await createTeam(stack());
    const view = await create(team.owner.browser);
    const exported = (await team.owner.browser.get(`${one(view)}/export`)).json;
    for (const { browser } of [await team.join("admin"), await signIn(stack())]) {
      for (const known of [view.id, randomUUID(), "no-id"]) {
        for (const [method, path, body] of [
          ["GET", one({ id: known }), undefined],
          ["GET", `${one({ id: known })}/export`, undefined],
          ["PUT", one({ id: known }), { name: "" }],
          ["DELETE", one({ id: known }), undefined],
        ] as const) {
          const answer = await browser.call(method, path, body === undefined ? {} : { body });
          expect([method, path, answer.status, answer.json]).toEqual([
            method,
            path,
            404,
            { error: "workspace view not found" },
          ]);
        }
      }
      const replace = { conflict_strategy: "replace", existing_view_id: view.id, expected_updated_at: view.updated_at };
      expect((await browser.post(`${PATH}/import`, importBody(exported, replace))).status).toBe(404);
      expect((await browser.get(PATH)).json.workspace_views).toEqual([]);
    }
  });

  test("are 401 for keys and without credentials", async () => {
    const { api } = await stack().organization();
    const id = randomUUID();
    for (const caller of [api, stack().api]) {
      for (const [method, path] of [
        ["GET", PATH],
        ["POST", PATH],
        ["GET", one({ id })],
        ["PUT", one({ id })],
        ["DELETE", one({ id })],
        ["GET", `${one({ id })}/export`],
        ["POST", `${PATH}/import`],
      ] as const) {
        const answer = await caller.call(method, path, method === "GET" ? {} : { body: {} });
        expect([method, path, answer.status]).toEqual([method, path, 401]);
      }
    }
  });

  test("are 403 for a viewer who writes, and from another site", async () => {
    const team = await createTeam(stack());
    const { browser } = await team.join("viewer");
    expect((await browser.get(PATH)).status).toBe(200);
    for (const [method, path] of [
      ["POST", PATH],
      ["PUT", one({ id: randomUUID() })],
      ["DELETE", one({ id: randomUUID() })],
      ["POST", `${PATH}/import`],
    ] as const) {
      expect([method, path, (await browser.call(method, path, { body: {} })).status]).toEqual([method, path, 403]);
      const elsewhere = await team.owner.browser.call(method, path, {
        body: {},
        headers: { origin: "https://x.test" },
      });
      expect([method, path, elsewhere.status]).toEqual([method, path, 403]);
    }
  });

  test("are deleted while a payment is due", async () => {
    const { owner, orgId } = await createTeam(stack());
    const { browser } = owner;
    const view = await create(browser);
    await stack().api.patch(`/api/orgs/${orgId}`, { billing_state: "canceled" }, asOperator(stack()));
    expect((await remove(browser, view)).status).toBe(200);
  });

  describe("are refused with 400 for", () => {
    test.each<[string, object, string]>([
      ["no name", { name: undefined }, "name"],
      ["a name of 513 bytes", { name: "n".repeat(513) }, "name"],
      ["a payload above 64 KiB", { payload: { a: "x".repeat(65_536) } }, "payload"],
      ["a payload that is a list", { payload: [] }, "payload"],
      ["the key prototype", { payload: { a: [{ prototype: 1 }] } }, "payload"],
      ["the key constructor", { payload: { constructor: 1 } }, "payload"],
    ])("%s", async (_what, body, field) => {
      const { browser } = await signIn(stack());
      expect(await browser.post(PATH, { name: "n", ...body })).toMatchObject({ status: 400, json: { field } });
      if (!("name" in body) || body.name !== undefined) {
        expect(await put(browser, await create(browser), body)).toMatchObject({ status: 400, json: { field } });
      }
    });

    test("a deletion without the moment, or with one that is none", async () => {
      const { browser } = await signIn(stack());
      const view = await create(browser);
      for (const query of [
        "",
        "?expected_updated_at=",
        "?expected_updated_at=now",
        "?expected_updated_at=2026-01-02T03:04:05+00:00",
      ]) {
        const answer = await browser.call("DELETE", `${one(view)}${query}`);
        expect([query, answer.status]).toEqual([query, 400]);
      }
    });
  });

  test("are deleted or replaced by one of several who know the same version; the others get 409", async () => {
    const { browser } = await signIn(stack());
    for (let round = 0; round < 5; round += 1) {
      const view = await create(browser, { payload: { round } });
      const exported = (await browser.get(`${one(view)}/export`)).json;
      const replace = { conflict_strategy: "replace", existing_view_id: view.id, expected_updated_at: view.updated_at };
      const doers = [
        () => remove(browser, view),
        () => browser.post(`${PATH}/import`, importBody(exported, replace)),
        () => remove(browser, view),
        () => browser.post(`${PATH}/import`, importBody(exported, replace)),
      ];
      const kinds = round % 2 === 0 ? doers : [doers[round % 4]!, doers[round % 4]!];
      const statuses = (await Promise.all(kinds.map((ask) => ask()))).map(({ status }) => status);
      expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...statuses.slice(1).map(() => 409)]);
    }
    const view = await create(browser);
    await put(browser, view, {});
    expect(await remove(browser, view)).toMatchObject({ status: 409, json: { error: expect.any(String) } });
  });

  test("are exported as a file with a checksum, and imported without possible secrets", async () => {
    const { browser } = await signIn(stack());
    const view = await create(browser, {
      name: "Daily Loss",
      payload: { b: [1, "s3://x"], a: { apiKey: "x", kept: true } },
    });
    const file = await browser.get(`${one(view)}/export`);
    expect(file.status).toBe(200);
    expect(file.headers).toMatchObject({
      "content-disposition": 'attachment; filename="daily-loss.instantml-view.json"',
      "cache-control": "private, no-store",
      pragma: "no-cache",
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox",
      "cross-origin-resource-policy": "same-origin",
    });
    const payload = { a: { kept: true }, b: [1] };
    expect(file.json).toEqual({
      kind: "instantml.workspace_view",
      schema_version: 1,
      exported_at: expect.any(String),
      source: { product: "tidemark", format: "workspace_view" },
      view: { name: "Daily Loss", project: null, payload },
      integrity: { payload_sha256: createHash("sha256").update('{"a":{"kept":true},"b":[1]}').digest("hex") },
    });
    const tried = await browser.post(`${PATH}/import`, importBody(file.json, { dry_run: true, name: "Other" }));
    expect(tried.json).toEqual({
      dry_run: true,
      action: "create",
      name: "Other",
      project: null,
      payload_bytes: 27,
      warnings: [],
      workspace_view: null,
    });
    expect((await browser.get(PATH)).json.workspace_views).toHaveLength(1);
    const made = (await browser.post(`${PATH}/import`, importBody(file.json))).json;
    expect(made).toMatchObject({ action: "create", workspace_view: { name: "Daily Loss", payload } });
    const sent = { ...file.json, view: { name: "n", payload: { token: 1 } }, source: { product: "instantml" } };
    sent.integrity = { payload_sha256: createHash("sha256").update('{"token":1}').digest("hex") };
    const cleaned = (await browser.post(`${PATH}/import`, importBody(sent))).json;
    expect([cleaned.workspace_view.payload, cleaned.warnings]).toEqual([{}, [expect.stringContaining("$.token")]]);
  });

  test("are judged by the digits of their file, or by those that JavaScript would write", async () => {
    const { browser } = await signIn(stack());
    const sent = (payload: string, hashed: string) => {
      const sha = createHash("sha256").update(hashed).digest("hex");
      const view = `{"name":"n","project":null,"payload":${payload}}`;
      const rawBody = `{"dry_run":false,"exported_view":{"kind":"instantml.workspace_view","schema_version":1,
        "source":{"product":"instantml"},"view":${view},"integrity":{"payload_sha256":"${sha}"}}}`;
      return browser.call("POST", `${PATH}/import`, { rawBody, headers: { "content-type": "application/json" } });
    };
    const payload = '{"b": 1.0, "a": [12345678901234567890, 1e2]}';
    const imported = await sent(payload, '{"a":[12345678901234567890,1e2],"b":1.0}');
    expect(imported.status).toBe(200);
    expect(imported.text).toContain('"payload":{"b":1.0,"a":[12345678901234567890,1e2]}');
    expect((await sent(payload, '{"a":[12345678901234567890,100],"b":1}')).status).toBe(200);
    expect((await sent(payload, '{"a":[12345678901234567000,100],"b":1}')).status).toBe(400);
  });

  test("that were changed on their way, or are none, are not imported", async () => {
    const { browser } = await signIn(stack());
    const view = await create(browser, { payload: { a: 1 } });
    const exported = (await browser.get(`${one(view)}/export`)).json;
    const asked = (body: object) => browser.post(`${PATH}/import`, body);
    const changed = { ...exported, view: { ...exported.view, payload: { a: 2 } } };
    for (const body of [
      importBody(changed),
      importBody({ ...exported, kind: "x" }),
      importBody({ ...exported, schema_version: 2 }),
      importBody({ ...exported, source: { product: "x" } }),
      { exported_view: exported },
      { dry_run: true },
      importBody(exported, { conflict_strategy: "merge" }),
      importBody(exported, { conflict_strategy: "replace", existing_view_id: view.id }),
      importBody(exported, { conflict_strategy: "replace", expected_updated_at: view.updated_at }),
    ]) {
      expect([JSON.stringify(body), (await asked(body)).status]).toEqual([JSON.stringify(body), 400]);
    }
    const stale = {
      conflict_strategy: "replace",
      existing_view_id: view.id,
      expected_updated_at: "2020-01-01T00:00:00Z",
    };
    for (const dry_run of [true, false])
      expect((await asked(importBody(exported, { ...stale, dry_run }))).status).toBe(409);
    expect((await asked(importBody(exported, { padding: "x".repeat(128 * 1024) }))).status).toBe(413);
    expect((await browser.get(PATH)).json.workspace_views).toHaveLength(1);
  });

  test("may be 200 of a user", async () => {
    const { browser } = await signIn(stack());
    for (let made = 0; made < 200; made += 20) {
      await Promise.all(Array.from({ length: 20 }, () => create(browser)));
    }
    expect((await browser.post(PATH, { name: "n" })).status).toBe(400);
  });
});
