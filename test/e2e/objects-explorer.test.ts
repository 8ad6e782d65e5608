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

  /** Two runs: one has a key at three steps and one without any, the other has the first at one step. */
  const sideBySide = async () => {
    const { api } = await stack().organization();
    const newRun = async (name: string): Promise<string> =>
      (await api.post("/runs", { project: "p", name })).json.run.id;
    const [one, two, silent] = [await newRun("one"), await newRun("two"), await newRun("silent")];
    const log = async (run: string, key: string, step?: number): Promise<void> => {
      const object = { key, kind: "histogram", value, ...(step === undefined ? {} : { step }) };
      expect((await api.post(`/api/runs/${run}/objects`, object)).status).toBe(200);
    };
    for (const step of [0, 10, 20]) await log(one, "grads", step);
    await log(two, "grads", 15);
    await log(two, "once");
    await api.post(`/api/runs/${two}/objects`, { key: "once", kind: "table" });
    await api.post(`/api/runs/${one}/attributes`, { path: "line", type: "string_series", step: 1, value: "text" });
    return { api, one, two, silent };
  };

  test("the keys of runs have the runs and steps that they have", async () => {
    const { api, one, two, silent } = await sideBySide();
    const answer = await api.get(`/api/objects/keys?run_ids=${silent},${two},${one}`);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      keys: [
        { key: "grads", kinds: ["histogram"], run_ids: [two, one], steps: [0, 10, 15, 20], steps_truncated: false },
        { key: "once", kinds: ["table"], run_ids: [two], steps: [], steps_truncated: false },
      ],
      truncated: false,
    });
    expect((await api.get(`/api/objects/keys?run_ids=${silent}`)).json).toEqual({ keys: [], truncated: false });
  });

  test("objects of runs are side by side at a step: the last ones up to it", async () => {
    const { api, one, two, silent } = await sideBySide();
    const at = async (step?: number): Promise<unknown> => {
      const body = { run_ids: [one, two, silent], keys: ["grads", "once"], ...(step === undefined ? {} : { step }) };
      const answer = await api.post("/api/objects/at-step", body);
      expect(answer.status).toBe(200);
      return answer.json.objects.map((object: { run_id: string; key: string; kind: string; step: number | null }) => [
        object.run_id === one ? "one" : "two",
        object.key,
        object.kind,
        object.step,
      ]);
    };
    const once = ["two", "once", "table", null];
    expect(await at()).toEqual([["one", "grads", "histogram", 20], ["two", "grads", "histogram", 15], once]);
    expect(await at(14.5)).toEqual([["one", "grads", "histogram", 10], once]);
    expect(await at(0)).toEqual([["one", "grads", "histogram", 0], once]);
    const [first] = (await api.post("/api/objects/at-step", { run_ids: [one], keys: ["grads"] })).json.objects;
    expect(first).toEqual((await api.get(`/api/runs/${one}/objects?key=grads&limit=1`)).json.objects[0]);
  });

  test("runs of others and wrong requests for runs side by side are refused", async () => {
    const { api, one } = await sideBySide();
    const stranger = (await stack().organization()).api;
    const keys = (client: Api, ids: string) => client.get(`/api/objects/keys?run_ids=${ids}`);
    const at = (client: Api, body: object) => client.post("/api/objects/at-step", body);
    expect([(await keys(stranger, one)).status, (await at(stranger, { run_ids: [one], keys: ["a"] })).status]).toEqual([
      404, 404,
    ]);
    expect((await keys(api, `${one},${randomUUID()}`)).status).toBe(404);
    const many = Array.from({ length: 101 }, () => randomUUID());
    for (const ids of ["", "x", many.join()]) {
      expect(await keys(api, ids)).toMatchObject({ status: 400, json: { field: "run_ids" } });
    }
    const names = Array.from({ length: 101 }, (_, i) => `key ${i}`);
    const faults: [object, string][] = [
      [{ keys: ["a"] }, "run_ids"],
      [{ run_ids: [], keys: ["a"] }, "run_ids"],
      [{ run_ids: ["x"], keys: ["a"] }, "run_ids"],
      [{ run_ids: many, keys: ["a"] }, "run_ids"],
      [{ run_ids: [one] }, "keys"],
      [{ run_ids: [one], keys: [] }, "keys"],
      [{ run_ids: [one], keys: names }, "keys"],
      [{ run_ids: many.slice(0, 2), keys: names.slice(0, 51) }, "keys"],
      [{ run_ids: [one], keys: ["a"], step: -1 }, "step"],
    ];
    for (const [body, field] of faults) {
      expect([body, await at(api, body)]).toMatchObject([body, { status: 400, json: { field } }]);
    }
    expect((await at(api, { run_ids: [one], keys: names.slice(0, 100) })).json).toEqual({ objects: [] });
    expect((await at(api.as("tm_wrong"), { run_ids: [one], keys: ["a"] })).status).toBe(401);
  });
});
