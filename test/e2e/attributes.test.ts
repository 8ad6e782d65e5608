import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

describeModes("attributes", (stack) => {
  const freshRun = async (): Promise<{ api: Api; path: string; id: string }> => {
    const { api } = await stack().organization();
    const { id } = (await api.post("/runs", {})).json.run;
    return { api, id, path: `/api/runs/${id}/attributes` };
  };

  test("a list and a single item at the top level are stored with integer ids", async () => {
    const { api, path, id } = await freshRun();
    const list = await api.post(path, {
      attributes: [
        { path: "config/lr", type: "config", value: 0.001 },
        { path: "sys/tags", type: "tag", value: "base", summary: { group: false } },
      ],
    });
    expect(list.status).toBe(200);
    expect(list.json.attributes).toMatchObject([
      { run_id: id, path: "config/lr", type: "config", step: null, value: 0.001, summary: {}, artifact_id: null },
      { path: "sys/tags", type: "tag", value: "base", summary: { group: false } },
    ]);
    const ids = list.json.attributes.map((row: { id: number }) => row.id);
    expect(ids.every(Number.isSafeInteger)).toBe(true);
    expect(new Set(ids).size).toBe(2);
    const single = await api.post(path, {
      path: "console/stdout",
      type: "string_series",
      value: "epoch 1",
      step: 3,
      timestamp: "2026-03-01T10:00:00Z",
    });
    expect(single.json.attributes).toMatchObject([{ step: 3, logged_at: "2026-03-01T10:00:00Z" }]);
    const read = (await api.get(path)).json.attributes;
    expect(read.map((row: { path: string }) => row.path)).toEqual(["config/lr", "sys/tags", "console/stdout"]);
    expect(read[0]).toEqual(list.json.attributes[0]);
  });

  test("the same path again adds a row, and tags of the run stay as they are", async () => {
    const { api, path, id } = await freshRun();
    await api.post(path, { path: "sys/tags", type: "tag", value: "a" });
    await api.post(path, { path: "sys/tags", type: "tag", value: "a" });
    expect((await api.get(path)).json.attributes).toHaveLength(2);
    expect((await api.get(`/runs/${id}`)).json.run.tags).toEqual([]);
  });

  test("an empty list is fine and answers an empty list", async () => {
    const { api, path } = await freshRun();
    expect(await api.post(path, { attributes: [] })).toMatchObject({ status: 200, json: { attributes: [] } });
  });

  test("values keep every digit, every shape and null inside a list", async () => {
    const { api, path } = await freshRun();
    const rawBody =
      '{"attributes":[{"path":"a","type":"config","value":{"seed":12345678901234567890,"n":null}},{"path":"b","type":"config","value":null}]}';
    expect((await api.call("POST", path, { rawBody })).status).toBe(200);
    const read = await api.get(path);
    expect(read.text).toContain("12345678901234567890");
    expect(read.json.attributes[1].value).toBeNull();
  });

  test("NUL and unpaired surrogates in values become U+FFFD and are refused in paths", async () => {
    const { api, path } = await freshRun();
    const body = String.raw`{"path":"p","type":"string_series","value":"a\u0000\udc00"}`;
    expect((await api.call("POST", path, { rawBody: body })).status).toBe(200);
    expect((await api.get(path)).json.attributes[0].value).toBe("a\ufffd\ufffd");
    expect((await api.call("POST", path, { rawBody: body.replace('"p"', String.raw`"p\u0000"`) })).status).toBe(400);
  });

  test("a histogram needs matching bins and counts", async () => {
    const { api, path } = await freshRun();
    const post = (value: unknown) => api.post(path, { path: "h", type: "histogram_series", value });
    expect((await post({ bins: [0, 1, 2], counts: [3, 4] })).status).toBe(200);
    expect((await post({ bins: [0, 1], counts: [3.0, 4] })).status).toBe(200);
    for (const value of [
      {},
      { bins: [], counts: [] },
      { bins: [0, 1, 2, 3], counts: [1, 2] },
      { bins: [0, 1], counts: [-1, 2] },
      { bins: ["a"], counts: [1] },
      5,
    ]) {
      expect((await post(value)).status).toBe(400);
    }
  });

  test.each([
    ["no path", { type: "config", value: 1 }],
    ["a blank path", { path: " ", type: "config", value: 1 }],
    ["a path of 513 bytes", { path: "p".repeat(513), type: "config", value: 1 }],
    ["no type", { path: "p", value: 1 }],
    ["an unknown type", { path: "p", type: "text", value: 1 }],
    ["a table", { path: "p", type: "table", value: 1 }],
    ["no value", { path: "p", type: "config" }],
    ["a text step", { path: "p", type: "config", value: 1, step: "1" }],
    ["a negative step", { path: "p", type: "config", value: 1, step: -1 }],
    ["a bad timestamp", { path: "p", type: "config", value: 1, timestamp: "x" }],
    ["a summary that is a list", { path: "p", type: "config", value: 1, summary: [] }],
    ["an artifact id that is not a UUID", { path: "p", type: "file", value: 1, artifact_id: "x" }],
    ["an artifact that does not exist", { path: "p", type: "file", value: 1, artifact_id: randomUUID() }],
  ])("an item with %s is 400, and a valid item next to it is not stored", async (_what, item) => {
    const { api, path } = await freshRun();
    const good = { path: "good", type: "config", value: 1 };
    expect((await api.post(path, { attributes: [good, item] })).status).toBe(400);
    expect((await api.get(path)).json.attributes).toEqual([]);
    expect((await api.post(`/api/runs/${randomUUID()}/attributes`, { attributes: [item] })).status).toBe(404);
  });

  test.each([
    ["a text", { attributes: "x" }],
    ["a list of numbers", { attributes: [1] }],
    ["a null value at the top level", { path: "p", type: "config", value: null }],
    ["nothing", {}],
  ])("%s is 400", async (_what, body) => {
    const { api, path } = await freshRun();
    expect((await api.post(path, body)).status).toBe(400);
  });

  test("GET filters by type and plain path prefix, pages, and orders by step with none first", async () => {
    const { api, path } = await freshRun();
    await api.post(path, {
      attributes: [
        { path: "x/b", type: "string_series", value: 2, step: 2 },
        { path: "x/a", type: "string_series", value: 1, step: 1 },
        { path: "x_c", type: "config", value: 0 },
      ],
    });
    const values = async (query: string): Promise<number[]> =>
      (await api.get(`${path}?${query}`)).json.attributes.map((row: { value: number }) => row.value);
    expect(await values("")).toEqual([0, 1, 2]);
    expect(await values("type=config")).toEqual([0]);
    expect(await values("path_prefix=x/")).toEqual([1, 2]);
    expect(await values("path_prefix=x_")).toEqual([0]);
    expect(await values(`path_prefix=${encodeURIComponent("%")}`)).toEqual([]);
    expect(await values("limit=1&offset=1")).toEqual([1]);
  });

  test.each(["limit=0", "limit=5001", "offset=-1", "path_prefix=", "path_prefix=%20", "limit=a"])(
    "GET with %s is 400",
    async (query) => {
      const { api, path } = await freshRun();
      expect((await api.get(`${path}?${query}`)).status).toBe(400);
    },
  );
});
