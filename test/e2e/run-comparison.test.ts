import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { asOperator, createTeam } from "../stack/people.ts";

type Row = {
  path: string;
  values: Record<string, unknown>;
  reference_run_id: string;
  reference: unknown;
  different: boolean;
};

const path = "/api/runs/side-by-side";

describeModes("runs side by side", (stack) => {
  const fresh = async (): Promise<Api> => (await stack().organization()).api;
  const runOf = async (api: Api, body: Record<string, unknown> = {}) => (await api.post("/runs", body)).json.run;

  /** The comparison of two runs that differ in some of everything. */
  const twoRuns = async () => {
    const api = await fresh();
    const a = await runOf(api, {
      name: "a",
      config: { lr: 0.1, model: { depth: 2, width: 8 } },
      tags: ["base", "x"],
      metadata: { gpu: "a100" },
    });
    const b = await runOf(api, { name: "b", config: { lr: 0.2, model: { width: 8, depth: 2 } }, tags: ["base"] });
    for (const value of [3, 1]) {
      await api.post(`/runs/${a.id}/metrics`, { metrics: { "train/loss": value }, step: 3 - value });
    }
    await api.post(`/runs/${b.id}/metrics`, { metrics: { "train/loss": 3 }, step: 0 });
    for (const value of ["adam", "sgd"]) {
      await api.post(`/api/runs/${a.id}/attributes`, { path: "config/optim", type: "config", value });
    }
    await api.post(`/api/runs/${b.id}/attributes`, { path: "config/optim", type: "config", value: "sgd" });
    return { api, a, b };
  };

  describe("200", () => {
    test("compares config, metadata, tags, metrics and attributes by path", async () => {
      const { api, a, b } = await twoRuns();
      const answer = await api.get(`${path}?run_ids=${a.id},${b.id}`);
      expect(answer.status).toBe(200);
      expect(Object.keys(answer.json).toSorted()).toEqual(["reference_run_id", "rows", "runs", "truncated"]);
      const row = (name: string, ofA: unknown, ofB: unknown, different: boolean): Row => ({
        path: name,
        values: { [a.id]: ofA, [b.id]: ofB },
        reference_run_id: a.id,
        reference: ofA,
        different,
      });
      expect(answer.json.rows).toEqual([
        row("attribute/config/optim", "sgd", "sgd", false),
        row("config/lr", 0.1, 0.2, true),
        row("config/model", { depth: 2, width: 8 }, { depth: 2, width: 8 }, false),
        row("metadata/gpu", "a100", null, true),
        row("metric/train/loss/latest", 1, 3, true),
        row("metric/train/loss/max", 3, 3, false),
        row("metric/train/loss/mean", 2, 3, true),
        row("tag/base", true, true, false),
        row("tag/x", true, null, true),
      ]);
      expect(answer.json).toMatchObject({ reference_run_id: a.id, truncated: false });
      // Run rows, without summaries.
      expect(answer.json.runs).toEqual([a, b].map((run) => expect.objectContaining({ ...run })));
      expect(answer.json.runs[0]).not.toHaveProperty("metric_aggregates");
    });

    test("shows only differences with diff_only=true, and with no other text", async () => {
      const { api, a, b } = await twoRuns();
      const rows = async (more: string): Promise<Row[]> =>
        (await api.get(`${path}?run_ids=${a.id},${b.id}${more}`)).json.rows;
      expect((await rows("&diff_only=true")).map((row) => row.path)).toEqual([
        "config/lr",
        "metadata/gpu",
        "metric/train/loss/latest",
        "metric/train/loss/mean",
        "tag/x",
      ]);
      for (const more of ["&diff_only=True", "&diff_only=1", "&diff_only=", "&diff_only=false"]) {
        expect(await rows(more)).toHaveLength(9);
      }
    });

    test("compares with the reference that was requested, if it is one of the runs", async () => {
      const { api, a, b } = await twoRuns();
      const ask = async (reference: string) =>
        (await api.get(`${path}?run_ids=${a.id},${b.id}&reference_run_id=${reference}`)).json;
      const other = await ask(b.id);
      expect(other.reference_run_id).toBe(b.id);
      for (const row of other.rows as Row[]) {
        expect(row).toMatchObject({ reference_run_id: b.id, reference: row.values[b.id] });
      }
      for (const reference of ["", "nonsense", randomUUID()]) {
        expect((await ask(reference)).reference_run_id).toBe(a.id);
      }
    });

    test("takes ids by either name, repeated, in capitals and with blanks between, in their order", async () => {
      const { api, a, b } = await twoRuns();
      const idsOf = async (query: string): Promise<string[]> =>
        (await api.get(`${path}?${query}`)).json.runs.map(({ id }: { id: string }) => id);
      expect(await idsOf(`runs=${b.id},${a.id}`)).toEqual([b.id, a.id]);
      expect(await idsOf(`run_ids=,${b.id},,${a.id.toUpperCase()},%20${b.id}%20,`)).toEqual([b.id, a.id]);
      expect(await idsOf(`run_ids=${a.id}&runs=${b.id}`)).toEqual([a.id]);
    });

    test("keeps every digit, and a number is equal however it is written", async () => {
      const api = await fresh();
      const make = async (config: string) =>
        (await api.call("POST", "/runs", { rawBody: `{"config":${config}}` })).json.run.id as string;
      const a = await make('{"seed":12345678901234567890,"lr":1e-3,"n":1.0}');
      const b = await make('{"seed":12345678901234567891,"lr":0.001,"n":1}');
      const { text, json } = await api.get(`${path}?run_ids=${a},${b}`);
      expect(text).toContain(`"values":{"${a}":12345678901234567890,"${b}":12345678901234567891}`);
      expect((json.rows as Row[]).map((row) => [row.path, row.different])).toEqual([
        ["config/lr", false],
        ["config/n", false],
        ["config/seed", true],
      ]);
    });

    test("compares 50 runs, and cuts after 5,000 rows", async () => {
      const api = await fresh();
      const config = (value: number) => Object.fromEntries(Array.from({ length: 5001 }, (_, i) => [`k${i}`, value]));
      const ids: string[] = [];
      for (let i = 0; i < 50; i += 1) ids.push((await runOf(api, { config: i < 2 ? config(i) : {} })).id);
      const all = (await api.get(`${path}?run_ids=${ids.join(",")}&diff_only=true`)).json;
      expect(all.runs).toHaveLength(50);
      expect(all.rows).toHaveLength(5000);
      expect(all.truncated).toBe(true);
      const paths = (all.rows as Row[]).map((row) => row.path);
      expect(paths).toEqual(paths.toSorted());
      expect(Object.keys((all.rows as Row[])[0]?.values ?? {})).toEqual(ids);
      const none = (await api.get(`${path}?run_ids=${ids[0]}&diff_only=true`)).json;
      expect(none).toMatchObject({ rows: [], truncated: false });
    });

    test("is open to a viewer", async () => {
      const team = await createTeam(stack());
      const viewer = await team.join("viewer");
      const { run } = (await team.owner.browser.post("/runs", {})).json;
      expect((await viewer.browser.get(`${path}?run_ids=${run.id}`)).json.runs).toHaveLength(1);
    });
  });

  describe("400", () => {
    const ids = Array.from({ length: 51 }, () => randomUUID());
    test.each([
      ["no runs", ""],
      ["blank runs", "?run_ids=%20,,"],
      ["what is not an id", `?run_ids=${randomUUID()},x`],
      ["51 runs", `?run_ids=${ids.join(",")}`],
      ["a parameter that is given twice", `?run_ids=${ids[0]}&run_ids=${ids[1]}`],
    ])("%s", async (_, query) => {
      const api = await fresh();
      expect(await api.get(`${path}${query}`)).toMatchObject({ status: 400, json: { error: expect.any(String) } });
    });
  });

  test("403: a key that may not read", async () => {
    const { api } = await stack().organization({ scopes: ["sdk:ingest"] });
    expect((await api.get(`${path}?run_ids=${randomUUID()}`)).status).toBe(403);
  });

  test("404: one run that is missing, foreign or of another project fails the call", async () => {
    const { api, orgId } = await stack().organization();
    const stranger = await fresh();
    const mine = await runOf(api, { project: "mine" });
    const theirs = await runOf(api, { project: "theirs" });
    const foreign = await runOf(stranger);
    const wish = { project: "mine", scopes: ["export:read"] };
    const issued = await stack().api.post(`/api/orgs/${orgId}/api-keys`, wish, asOperator(stack()));
    const scoped = api.as(issued.json.api_key);
    for (const [caller, other] of [
      [api, randomUUID()],
      [api, foreign.id],
      [scoped, theirs.id],
    ] as const) {
      expect(await caller.get(`${path}?run_ids=${mine.id},${other}`)).toMatchObject({
        status: 404,
        json: { error: "run not found" },
      });
    }
    expect((await scoped.get(`${path}?run_ids=${mine.id}`)).status).toBe(200);
    expect((await api.get(`${path}?run_ids=${mine.id},${theirs.id}`)).status).toBe(200);
  });
});
