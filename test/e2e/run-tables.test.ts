import { describe, expect, test } from "@jest/globals";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

type Row = { name: string; columns?: Record<string, unknown> };
const namesIn = (answer: Answer): string[] => (answer.json.runs as Row[]).map(({ name }) => name);
const columnsIn = (answer: Answer) => (answer.json.runs as Row[]).map(({ columns }) => columns);

describeModes("tables of runs", (stack) => {
  const summary = (api: Api, query: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> =>
    api.get(`/api/runs/summary?${new URLSearchParams(query).toString()}`, { headers });

  /** Runs a, b and c: with a config, with attributes of log_config, and with a metric. */
  const threeRuns = async (): Promise<{ api: Api; ids: string[] }> => {
    const { api } = await stack().organization();
    const bodies = [
      { name: "a", config: { lr: 0.1, opt: { name: "Adam" } } },
      { name: "b" },
      { name: "c", config: { lr: 3, opt: "sgd" } },
    ];
    const ids: string[] = [];
    for (const body of bodies) ids.push((await api.post("/runs", body)).json.run.id);
    const attributes = [
      { path: "config/lr", type: "config", value: 0.5 },
      { path: "config/opt/name", type: "config", value: "" },
      { path: "git/commit", type: "string_series", value: "0a1b" },
    ];
    expect((await api.post(`/api/runs/${ids[1]}/attributes`, { attributes })).status).toBe(200);
    for (const [step, loss] of [3, 1, 2].entries()) {
      const answer = await api.post(`/runs/${ids[2]}/metrics`, { metrics: { "val/loss": loss }, step });
      expect(answer.status).toBe(200);
    }
    return { api, ids };
  };

  test("filters find runs by configs, attributes and metrics on every route that searches", async () => {
    const { api } = await threeRuns();
    const cases: [q: string, names: string[]][] = [
      ["config.lr<1", ["b", "a"]],
      ["config.lr!=0.5", ["c", "a"]],
      ['config.opt.name="Adam"', ["a"]],
      ['config.opt.name=""', ["b"]],
      ['attributes.git/commit="0a1b"', ["b"]],
      ["metrics.val/loss=2 metrics.val/loss.best=1 metrics.val/loss.count=3", ["c"]],
      ["-config.lr>0.2", ["a"]],
      ["config.lr>0.2 name:re:/^c$/", ["c"]],
      ["config.lr>x", []],
    ];
    for (const [q, names] of cases) {
      expect([q, namesIn(await summary(api, { q }))]).toEqual([q, names]);
      const query = new URLSearchParams({ q }).toString();
      expect(namesIn(await api.get(`/runs?${query}`))).toEqual(names);
      expect((await api.get(`/api/overview?${query}`)).json.overview.total_runs).toBe(names.length);
    }
  });

  test("columns are shown, also without metrics; and only when they are requested", async () => {
    const { api } = await threeRuns();
    const columns = "config.lr, metrics.val/loss,metrics.val/loss.best,attributes.git/commit,config.opt.name";
    const expected = (
      lr: number,
      latest: number | null,
      best: number | null,
      commit: string | null,
      opt: string | null,
    ) => ({
      "config.lr": lr,
      "metrics.val/loss": latest,
      "metrics.val/loss.best": best,
      "attributes.git/commit": commit,
      "config.opt.name": opt,
    });
    const rows = [
      expected(3, 2, 1, null, null),
      expected(0.5, null, null, "0a1b", ""),
      expected(0.1, null, null, null, "Adam"),
    ];
    expect(columnsIn(await summary(api, { columns }))).toEqual(rows);
    expect(columnsIn(await summary(api, { columns, projection: "selection" }))).toEqual(rows);
    expect(columnsIn(await summary(api, {}))).toEqual([undefined, undefined, undefined]);
  });

  test("a table is sorted by any column in both directions, page by page, with missing values last", async () => {
    const { api } = await threeRuns();
    const orders: [sortBy: string, dir: string, names: string[]][] = [
      ["config.lr", "asc", ["a", "b", "c"]],
      ["config.lr", "desc", ["c", "b", "a"]],
      ["metrics.val/loss.best", "asc", ["c", "b", "a"]],
      ["metrics.val/loss.best", "desc", ["c", "b", "a"]],
      ["attributes.git/commit", "asc", ["b", "c", "a"]],
      ["name", "desc", ["c", "b", "a"]],
      ["created", "asc", ["a", "b", "c"]],
    ];
    for (const [sort_by, sort_dir, names] of orders) {
      const listed: string[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const page = await summary(api, { sort_by, sort_dir, cursor, limit: "1" });
        expect(page.status).toBe(200);
        listed.push(...namesIn(page));
        cursor = page.json.next_cursor as string | null;
      }
      expect([sort_by, sort_dir, listed]).toEqual([sort_by, sort_dir, names]);
      expect(namesIn(await summary(api, { sort_by, sort_dir, offset: "1" }))).toEqual(names.slice(1));
    }
  });

  test("the newest value counts immediately, in columns, filters and orders", async () => {
    const { api, ids } = await threeRuns();
    const order = { sort_by: "config.lr", sort_dir: "desc", q: "config.lr>0" };
    for (const value of [7, 0.01, 8]) {
      const logged = await api.post(`/api/runs/${ids[1]}/attributes`, { path: "config/lr", type: "config", value });
      expect(logged.status).toBe(200);
      const page = await summary(api, { ...order, columns: "config.lr" });
      const places = value > 3 ? ["b", "c", "a"] : ["c", "a", "b"];
      expect(namesIn(page)).toEqual(places);
      expect((page.json.runs as Row[]).find(({ name }) => name === "b")?.columns).toEqual({ "config.lr": value });
      expect(namesIn(await summary(api, { q: `config.lr=${value}` }))).toEqual(["b"]);
    }
  });

  test("an answer that has not changed is 304", async () => {
    const { api, ids } = await threeRuns();
    const query = { columns: "metrics.val/loss" };
    const first = await summary(api, query);
    const etag = String(first.headers["etag"]);
    expect(etag).toMatch(/^W\/"[\w-]+"$/);
    const again = await summary(api, query, { "if-none-match": etag });
    expect([again.status, again.text, again.headers["etag"]]).toEqual([304, "", etag]);
    await api.post(`/runs/${ids[2]}/metrics`, { metrics: { "val/loss": 9 }, step: 9 });
    const changed = await summary(api, query, { "if-none-match": etag });
    expect(changed.status).toBe(200);
    expect(changed.headers["etag"]).not.toBe(etag);
  });

  test("a deleted run is in no table", async () => {
    const { api, ids } = await threeRuns();
    expect((await api.call("DELETE", `/runs/${ids[0]}`)).status).toBe(200);
    for (const sort_by of ["config.lr", "metrics.val/loss.best"]) {
      expect(namesIn(await summary(api, { sort_by })).toSorted()).toEqual(["b", "c"]);
    }
    expect(namesIn(await summary(api, { q: "config.lr=0.1" }))).toEqual([]);
  });

  describe("400", () => {
    const many = Array.from({ length: 51 }, (_, i) => `config.c${i}`).join(",");
    test.each([
      ["an unknown kind of column", { columns: "config.lr,tags.x" }, "columns"],
      ["a column without a name", { columns: "config." }, "columns"],
      ["51 columns", { columns: many }, "columns"],
      ["an unknown order", { sort_by: "size" }, "sort_by"],
      ["an order by an unknown kind of column", { sort_by: "tags.x" }, "sort_by"],
      ["an unknown direction", { sort_by: "config.lr", sort_dir: "up" }, "sort_dir"],
      ["a cursor of nothing", { sort_by: "config.lr", cursor: "x" }, "cursor"],
    ])("for %s", async (_what, query: Record<string, string>, field) => {
      const { api } = await stack().organization();
      const answer = await summary(api, query);
      expect(answer).toMatchObject({ status: 400, json: { error: expect.any(String), field } });
    });

    test("for the cursor of another order", async () => {
      const { api } = await threeRuns();
      const order = { sort_by: "config.lr", sort_dir: "asc", limit: "1" };
      const { next_cursor: cursor } = (await summary(api, order)).json;
      for (const other of [{ sort_dir: "desc" }, { sort_by: "config.opt" }, { sort_by: "metrics.val/loss" }]) {
        const answer = await summary(api, { ...order, ...other, cursor });
        expect(answer).toMatchObject({ status: 400, json: { field: "cursor" } });
      }
    });

    test("for a search that is at fault besides its filters, with the column", async () => {
      const { api } = await stack().organization();
      const answer = await summary(api, { q: "config.lr<1 status:bad" });
      expect(answer.json).toMatchObject({ code: "run_search_invalid", field: "q", position: 13 });
    });
  });
});
