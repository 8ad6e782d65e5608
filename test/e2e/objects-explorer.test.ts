import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

const value = { bins: [0, 1], counts: [2] };

describeModes("objects of many runs", (stack) => {
  const explore = async (api: Api, query: string) => api.get(`/api/objects/explorer?${query}`);
  const keysOf = async (api: Api, query = ""): Promise<string[]> =>
    (await explore(api, query)).json.objects.map(({ key }: { key: string }) => key);

  /** Two projects: a table and two histograms (one an attribute) in the first, an evaluation and a text in the second. */
  const filled = async () => {
    const { api, orgId } = await stack().organization();
    const newRun = async (project: string, name: string) => (await api.post("/runs", { project, name })).json.run;
    const [one, two] = [await newRun("p1", "lion-1"), await newRun("p2", "tiger-2")];
    const objects = (run: { id: string }): string => `/api/runs/${run.id}/objects`;
    await api.post(objects(one), { key: "eval/samples", kind: "table", step: 1, rows: [{ a: 1 }] });
    await api.post(objects(one), { key: "grads", kind: "histogram", step: 9, value });
    await api.post(`/api/runs/${one.id}/attributes`, {
      path: "eval/hist",
      type: "histogram_series",
      step: 5,
      value,
      timestamp: "2026-01-05T10:00:00Z",
    });
    await api.post(objects(two), { key: "notes", kind: "table" });
    await api.post(`/api/runs/${two.id}/attributes`, {
      path: "log",
      type: "string_series",
      step: 7,
      value: "hé".repeat(400),
    });
    return { api, orgId, one, two };
  };

  test("items have their run, their value's beginning and their id", async () => {
    const { api, one } = await filled();
    const answer = await explore(api, "");
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      next_cursor: null,
      limit: 50,
      page_info: { pagination: "cursor", has_next_page: false },
    });
    const { objects } = answer.json;
    expect(objects.map(({ key }: { key: string }) => key)).toEqual(["grads", "eval/hist", "eval/samples", "notes"]);
    expect(objects[1]).toMatchObject({
      object_id: `attr:${objects[1].id}`,
      run_id: one.id,
      run_name: "lion-1",
      project: "p1",
      kind: "histogram",
      step: 5,
      logged_at: "2026-01-05T10:00:00Z",
      summary: {},
      metadata: {},
      preview: { text: JSON.stringify(value), truncated: false, histogram: value },
      artifact_id: null,
      artifact: null,
    });
    expect(objects[2].preview).toEqual({ text: '{"kind":"table","metadata":{}}', truncated: false });
    expect(objects[2].logged_at).toBe(objects[2].created_at);
    const [text] = (await explore(api, "kind=text")).json.objects;
    expect(text).toMatchObject({ key: "log", kind: "text", preview: { text: "hé".repeat(256), truncated: true } });
  });

  test("projects, runs, kinds, parts of keys, steps and searches of runs narrow the list", async () => {
    const { api, one, two } = await filled();
    expect(await keysOf(api, "project=p2")).toEqual(["notes"]);
    expect(await keysOf(api, `project_id=${one.project_id}`)).toEqual(["grads", "eval/hist", "eval/samples"]);
    expect(await keysOf(api, `project_id=${one.project_id}&project=p2`)).toEqual([]);
    expect(await keysOf(api, "project=nobody")).toEqual([]);
    expect(await keysOf(api, "project_id=x")).toEqual([]);
    expect(await keysOf(api, `run_id=${two.id}`)).toEqual(["notes"]);
    expect(await keysOf(api, `run_id=${two.id}&project=p1`)).toEqual([]);
    expect(await keysOf(api, "kind=table")).toEqual(["eval/samples", "notes"]);
    expect(await keysOf(api, "key=eval")).toEqual(["eval/hist", "eval/samples"]);
    expect(await keysOf(api, "key=%25")).toEqual([]);
    expect(await keysOf(api, "from_step=5")).toEqual(["grads", "eval/hist"]);
    expect(await keysOf(api, "to_step=5")).toEqual(["eval/hist", "eval/samples"]);
    expect(await keysOf(api, "from_step=2&to_step=6")).toEqual(["eval/hist"]);
    expect(await keysOf(api, "q=tiger")).toEqual(["notes"]);
    expect(await keysOf(api, `q=tiger&run_id=${one.id}`)).toEqual([]);
    expect(await keysOf(api, "q=lion&project=p2")).toEqual([]);
    expect(await keysOf(api, "q=nothing")).toEqual([]);
  });

  test("pages follow one another, also while objects are added", async () => {
    const { api, one } = await filled();
    const seen: string[] = [];
    let cursor = "";
    do {
      const { json } = await explore(api, `limit=1&cursor=${cursor}`);
      seen.push(...json.objects.map(({ key }: { key: string }) => key));
      expect(json.page_info.has_next_page).toBe(json.next_cursor !== null);
      cursor = json.next_cursor ?? "";
      await api.post(`/api/runs/${one.id}/objects`, { key: "new", kind: "table", step: 100 });
    } while (cursor !== "");
    expect(seen).toEqual(["grads", "eval/hist", "eval/samples", "notes"]);
  });

  test("a key of a project sees that project only, another organization nothing", async () => {
    const { orgId, one, two } = await filled();
    const operator = { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    const made = await stack().api.post(
      `/api/orgs/${orgId}/api-keys`,
      { name: "k", scopes: ["export:read"], project_id: one.project_id },
      operator,
    );
    const scoped = stack().api.as(made.json.api_key);
    expect(await keysOf(scoped)).toEqual(["grads", "eval/hist", "eval/samples"]);
    expect(await keysOf(scoped, "project=p2")).toEqual([]);
    expect((await explore(scoped, `run_id=${two.id}`)).status).toBe(404);
    const stranger = (await stack().organization()).api;
    expect(await keysOf(stranger)).toEqual([]);
    expect((await explore(stranger, `run_id=${one.id}`)).status).toBe(404);
    expect(await keysOf(stranger, `project_id=${one.project_id}`)).toEqual([]);
  });

  test.each([
    ["kind=x", "kind"],
    ["limit=0", "limit"],
    ["limit=101", "limit"],
    ["cursor=x", "cursor"],
    ["cursor=offset:1", "cursor"],
    ["run_id=x", "run_id"],
    ["from_step=-1", "from_step"],
    ["from_step=a", "from_step"],
    ["from_step=2&to_step=1", "from_step"],
    [`key=${"k".repeat(129)}`, "key"],
    [`q=${encodeURIComponent("re:/(/")}`, "q"],
  ])("%s is 400 object_explorer_invalid", async (query, field) => {
    const { api } = await stack().organization();
    expect(await explore(api, query)).toMatchObject({ status: 400, json: { code: "object_explorer_invalid", field } });
  });

  test("an unknown run is 404, a search that finds more than 100 runs 400", async () => {
    const { api } = await stack().organization();
    expect((await explore(api, `run_id=${randomUUID()}`)).status).toBe(404);
    for (let i = 0; i < 100; i += 1) await api.post("/runs", { name: "many" });
    expect((await explore(api, "q=many")).status).toBe(200);
    await api.post("/runs", { name: "many" });
    expect(await explore(api, "q=many")).toMatchObject({ status: 400, json: { code: "object_explorer_invalid" } });
  });
});
