import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { describeModes } from "../stack/modes.ts";

describeModes("metrics over groups of runs", (stack) => {
  const PATH = "/api/metrics/groups";

  /** Two runs with lr 0.1 and one with lr 1, each with its own seed. */
  const threeRuns = async () => {
    const { api, orgId } = await stack().organization();
    const ids: string[] = [];
    for (const [seed, [lr, values]] of (
      [
        [0.1, [1, 4, 7]],
        [0.1, [3, 4]],
        [1, [10]],
      ] as const
    ).entries()) {
      const { id } = (await api.post("/runs", { project: "p", tags: lr === 1 ? [] : ["b", "a"], config: { lr, seed } }))
        .json.run;
      for (const [step, loss] of values.entries())
        expect((await api.post(`/runs/${id}/metrics`, { metrics: { loss }, step })).status).toBe(200);
      ids.push(id as string);
    }
    return { api, orgId, ids };
  };
  const small = {
    by: { "config.lr": 0.1 },
    run_count: 2,
    series: [
      {
        key: "loss",
        columns: {
          step: [0, 1, 2],
          mean: [2, 4, 7],
          std: [1, 0, 0],
          min: [1, 4, 7],
          max: [3, 4, 7],
          count: [2, 2, 1],
        },
      },
    ],
    aggregates: [
      {
        key: "loss",
        latest: { mean: 5.5, std: 1.5, min: 4, max: 7, count: 2 },
        best: { mean: 2, std: 1, min: 1, max: 3, count: 2 },
      },
    ],
  };
  const large = {
    by: { "config.lr": 1 },
    run_count: 1,
    series: [{ key: "loss", columns: { step: [0], mean: [10], std: [0], min: [10], max: [10], count: [1] } }],
    aggregates: [
      {
        key: "loss",
        latest: { mean: 10, std: 0, min: 10, max: 10, count: 1 },
        best: { mean: 10, std: 0, min: 10, max: 10, count: 1 },
      },
    ],
  };

  test("are those of the runs of a filter, or of named ones", async () => {
    const { api, ids } = await threeRuns();
    const facts = { requested_buckets: 500, effective_buckets: 500, total_point_cap: 120_000 };
    const body = { keys: ["loss"], by: ["config.lr"] };
    expect(await api.post(PATH, { ...body, filter: { q: "config.lr<=1", project: "p" } })).toMatchObject({
      status: 200,
      json: { ...facts, groups: [small, large], run_count: 3 },
    });
    expect((await api.post(PATH, { ...body, run_ids: ids.slice(0, 2) })).json).toEqual({
      ...facts,
      bucket_width: 3 / 498,
      groups: [small],
      run_count: 2,
    });
    expect((await api.post(PATH, { ...body, by: { except: ["config.seed"] }, filter: {} })).json.groups).toEqual([
      small,
      large,
    ]);
    expect((await api.post(PATH, { ...body, filter: { project: "none" } })).json).toEqual({
      ...facts,
      bucket_width: 0,
      groups: [],
      run_count: 0,
    });
  });

  test("are by tags, within bounds, with the statistics that were requested", async () => {
    const { api } = await threeRuns();
    const body = { filter: {}, keys: ["loss", "x"], by: ["tags"], stats: ["p25", "count"], start_step: 0, end_step: 1 };
    const { groups } = (await api.post(PATH, { ...body, buckets: 1 })).json;
    const none = { key: "x", columns: { step: [], p25: [], count: [] } };
    expect(groups).toMatchObject([
      {
        by: { tags: ["a", "b"] },
        series: [{ key: "loss", columns: { step: [0], p25: [2.75], count: [2] } }, none],
        aggregates: [{ latest: { p25: 4.75, count: 2 } }, { key: "x", latest: { p25: null, count: 0 } }],
      },
      { by: { tags: null }, series: [{ columns: { step: [0], p25: [10], count: [1] } }, none] },
    ]);
  });

  test("404 for a run that the caller cannot see", async () => {
    const { api, ids } = await threeRuns();
    const foreign = (await stack().organization()).api;
    const body = { keys: ["loss"], by: ["tags"] };
    expect((await foreign.post(PATH, { ...body, run_ids: ids })).status).toBe(404);
    expect((await api.post(PATH, { ...body, run_ids: [randomUUID()] })).status).toBe(404);
    expect((await foreign.post(PATH, { ...body, filter: {} })).json.run_count).toBe(0);
    expect((await api.call("DELETE", `/runs/${ids[0]}`)).status).toBe(200);
    expect((await api.post(PATH, { ...body, run_ids: ids })).status).toBe(404);
    expect((await api.post(PATH, { ...body, filter: {} })).json.run_count).toBe(2);
  });

  describe("400", () => {
    test.each<[string, Record<string, unknown>, string]>([
      ["neither filter nor runs", { filter: null }, "filter"],
      ["both", { run_ids: [randomUUID()] }, "run_ids"],
      ["1,001 runs", { filter: null, run_ids: Array.from({ length: 1001 }, () => randomUUID()) }, "run_ids"],
      ["no keys", { keys: [] }, "keys"],
      ["51 keys", { keys: Array.from({ length: 51 }, (_, i) => `k${i}`) }, "keys"],
      ["an unknown kind of column", { by: ["metrics.loss"] }, "by"],
      ["tags among what is left out", { by: { except: ["tags"] } }, "by"],
      ["an unknown statistic", { stats: ["median"] }, "stats"],
      ["too many buckets", { buckets: 4097 }, "buckets"],
      ["an invalid search", { filter: { q: "status:bad" } }, "q"],
    ])("for %s", async (_what, more, field) => {
      const { api } = await stack().organization();
      const body = { filter: {}, keys: ["loss"], by: ["tags"], ...more };
      expect(await api.post(PATH, body)).toMatchObject({ status: 400, json: { field } });
    });
  });

  test("401 without credentials, 403 for a key that may not read", async () => {
    const { orgId } = await stack().organization();
    const body = { filter: {}, keys: ["loss"], by: ["tags"] };
    expect((await stack().api.post(PATH, body)).status).toBe(401);
    const operator = { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, { scopes: ["sdk:ingest"] }, operator);
    expect((await stack().api.as(made.json.api_key).post(PATH, body)).status).toBe(403);
  });
});
