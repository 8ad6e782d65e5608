import { expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

type Report = { metrics: object; step: number; rank: number; world_size: number; weight?: number | null };

describeModes("rank metrics", (stack) => {
  const freshRun = async (): Promise<{ api: Api; id: string; path: string; summary: string }> => {
    const { api } = await stack().organization();
    const { id } = (await api.post("/runs", {})).json.run;
    return { api, id, path: `/runs/${id}/rank-metrics`, summary: `/api/runs/${id}/rank-metrics/summary` };
  };
  const report = (fields: Partial<Report> = {}): Report => ({
    metrics: { loss: 1 },
    step: 4,
    rank: 0,
    world_size: 4,
    ...fields,
  });

  test("reports of two ranks are read back immediately, with every field", async () => {
    const { api, path, summary } = await freshRun();
    expect(await api.post(path, { ...report(), local_rank: 0, weight: 1.0, timestamp: null })).toMatchObject({
      status: 200,
      json: { inserted: 1 },
    });
    await api.post(path, {
      ...report({ metrics: { loss: 3, acc: 0.5 }, rank: 2, weight: 3 }),
      timestamp: "2026-01-01T00:00:00Z",
    });
    const answer = await api.get(`${summary}?key=loss`);
    const step = { step: 4, rank_count: 2, expected_world_size: 4, world_size_mismatch: false };
    expect(answer.json).toEqual({
      keys: ["loss"],
      key: "loss",
      reducers: [{ ...step, mean: 2, weighted_mean: 2.5, min: 1, max: 3, stddev: 1, p05: 1, p50: 3, p95: 3 }],
      heatmap: [
        { step: 4, rank: 0, value: 1, delta_from_mean: -1 },
        { step: 4, rank: 2, value: 3, delta_from_mean: 1 },
      ],
      outliers: [
        { rank: 0, step: 4, value: 1, delta_from_mean: -1, z_score: -1 },
        { rank: 2, step: 4, value: 3, delta_from_mean: 1, z_score: 1 },
      ],
      coverage: [{ ...step, missing_rank_count: 2, missing_ranks: [1, 3] }],
      limits: {
        step_limit: 1000,
        max_world_size: 512,
        max_canonical_rows: 65536,
        max_heatmap_cells: 16384,
        outlier_limit: 20,
      },
      truncated: { steps: false, heatmap: false, outliers: false },
    });
    expect((await api.get(summary)).json).toMatchObject({ keys: ["acc", "loss"], key: "acc" });
  });

  test("without data the summary is empty, of no key or of the one that was requested", async () => {
    const { api, path, summary } = await freshRun();
    const empty = { reducers: [], heatmap: [], outliers: [], coverage: [] };
    expect(await api.get(summary)).toMatchObject({ status: 200, json: { ...empty, keys: [], key: null } });
    expect((await api.get(`${summary}?key=`)).json).toMatchObject({ ...empty, key: null });
    expect((await api.get(`${summary}?key=x`)).json).toMatchObject({ ...empty, key: "x" });
    await api.post(path, report());
    expect((await api.get(`${summary}?start_step=5`)).json).toMatchObject({ ...empty, key: "loss" });
  });

  test("the newest value of a rank and step counts", async () => {
    const { api, path, summary } = await freshRun();
    for (const loss of [1, 2, 3]) await api.post(path, report({ metrics: { loss, [`k${loss}`]: 0 } }));
    expect((await api.get(`${summary}?key=loss`)).json.heatmap).toEqual([
      { step: 4, rank: 0, value: 3, delta_from_mean: 0 },
    ]);
  });

  test("they are not metrics of the run", async () => {
    const { api, id, path } = await freshRun();
    await api.post(path, report());
    expect((await api.get(`/runs/${id}/metrics`)).json.metrics).toEqual([]);
    const { series } = (await api.post("/api/metrics/series", { key: "loss", run_ids: [id] })).json;
    expect(series[0].metrics).toEqual([]);
    expect((await api.get(`/runs/${id}`)).json.run.metric_aggregates).toEqual({});
  });

  test("the newest steps are kept, within the steps requested, ascending", async () => {
    const { api, path, summary } = await freshRun();
    for (let step = 0; step < 6; step++) await api.post(path, report({ step: step / 2 }));
    const steps = async (query: string) =>
      (await api.get(`${summary}?${query}`)).json.reducers.map((row: { step: number }) => row.step);
    expect(await steps("limit=2")).toEqual([2, 2.5]);
    expect(await steps("end_step=1.5&limit=2")).toEqual([1, 1.5]);
    expect(await steps("start_step=0.5&end_step=1")).toEqual([0.5, 1]);
    expect(await steps("limit=")).toHaveLength(6);
  });

  test("many ranks lower the limit of steps, and the answer says so", async () => {
    const { api, path, summary } = await freshRun();
    await api.post(path, report({ rank: 511, world_size: 512 }));
    const lowered = (await api.get(summary)).json;
    expect(lowered).toMatchObject({ limits: { step_limit: 128 }, truncated: { steps: true } });
    expect(lowered.coverage).toMatchObject([{ missing_rank_count: 511, missing_ranks: [], expected_world_size: 512 }]);
    expect((await api.get(`${summary}?limit=128`)).json).toMatchObject({
      limits: { step_limit: 128 },
      truncated: { steps: false },
    });
  });

  test("values at the ends of the range of a double make a valid answer", async () => {
    const { api, path, summary } = await freshRun();
    for (const [rank, loss] of [-1.7e308, -1.7e308, -1.7e308, 1.7e308].entries()) {
      expect((await api.post(path, report({ metrics: { loss }, rank, weight: 1e308 }))).status).toBe(200);
    }
    const { reducers, heatmap, outliers } = (await api.get(summary)).json;
    const [{ mean, weighted_mean, stddev }] = reducers;
    expect(mean / 1.7e308).toBeCloseTo(-0.5, 12);
    expect(weighted_mean / 1.7e308).toBeCloseTo(-0.5, 12);
    expect(stddev / 1.7e308).toBeCloseTo(Math.sqrt(0.75), 12);
    expect(heatmap.at(-1)).toMatchObject({ value: 1.7e308, delta_from_mean: null });
    expect(outliers[0].z_score).toBeCloseTo(Math.sqrt(3), 12);
  });

  test("a finished run takes them", async () => {
    const { api, id, path, summary } = await freshRun();
    await api.patch(`/runs/${id}`, { status: "finished" });
    expect((await api.post(path, report())).status).toBe(200);
    expect((await api.get(summary)).json.reducers).toHaveLength(1);
  });

  test("a gzipped body of 1,000 keys is taken, 1,001 keys are not", async () => {
    const { api, path, summary } = await freshRun();
    const send = (count: number) => {
      const metrics = Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`k${String(i).padStart(4, "0")}`, i]),
      );
      const rawBody = gzipSync(JSON.stringify(report({ metrics })));
      return api.call("POST", path, { rawBody, headers: { "content-encoding": "gzip" } });
    };
    expect(await send(1000)).toMatchObject({ status: 200, json: { inserted: 1000 } });
    expect(await send(1001)).toMatchObject({ status: 400, json: { field: "metrics" } });
    const { keys } = (await api.get(summary)).json;
    expect([keys.length, keys[0], keys.at(-1)]).toEqual([200, "k0000", "k0199"]);
    expect((await api.get(`${summary}?key=k0999`)).json.reducers).toMatchObject([{ mean: 999 }]);
  });

  test("a replayed key stores once; another body, or another route, under it is 409", async () => {
    const { api, id, path, summary } = await freshRun();
    const options = { headers: { "idempotency-key": "rank-1" } };
    const first = await api.post(path, report(), options);
    expect(first.headers).not.toHaveProperty("idempotency-replayed");
    await api.post(path, report({ metrics: { loss: 9 } }));
    expect(await api.post(path, report(), options)).toMatchObject({
      status: 200,
      json: { inserted: 1 },
      headers: { "idempotency-replayed": "true" },
    });
    expect((await api.get(summary)).json.reducers).toMatchObject([{ mean: 9 }]);
    const reused = { status: 409, json: { code: "idempotency_key_reused" } };
    expect(await api.post(path, report({ rank: 1 }), options)).toMatchObject(reused);
    expect(await api.post(`/runs/${id}/metrics`, { metrics: { loss: 1 }, step: 4 }, options)).toMatchObject(reused);
  });

  test("an Idempotency-Key of 256 bytes is 400, a blank one counts as absent", async () => {
    const { api, path } = await freshRun();
    const headers = (key: string) => ({ headers: { "idempotency-key": key } });
    expect((await api.post(path, report(), headers("k".repeat(256)))).status).toBe(400);
    for (const metrics of [{ a: 1 }, { b: 1 }])
      expect((await api.post(path, report({ metrics }), headers(" "))).status).toBe(200);
  });

  test.each<[string, object, string]>([
    ["no metrics", { metrics: undefined }, "metrics"],
    ["empty metrics", { metrics: {} }, "metrics"],
    ["a text as value", { metrics: { loss: "1" } }, "metrics"],
    ["no step", { step: undefined }, "step"],
    ["a negative step", { step: -1 }, "step"],
    ["no rank", { rank: undefined }, "rank"],
    ["a fractional rank", { rank: 0.5 }, "rank"],
    ["a text as rank", { rank: "0" }, "rank"],
    ["a negative rank", { rank: -1 }, "rank"],
    ["a rank as large as the world", { rank: 4 }, "rank"],
    ["no world size", { world_size: undefined }, "world_size"],
    ["a world of 0", { world_size: 0 }, "world_size"],
    ["a world of 513", { world_size: 513 }, "world_size"],
    ["a local rank as large as the world", { local_rank: 4 }, "local_rank"],
    ["a weight of 0", { weight: 0 }, "weight"],
    ["a negative weight", { weight: -1 }, "weight"],
    ["a bad timestamp", { timestamp: "yesterday" }, "timestamp"],
  ])("POST with %s is 400 and stores nothing; a missing run is 404 first", async (_what, change, field) => {
    const { api, path, summary } = await freshRun();
    const body = { ...report(), ...change };
    expect(await api.post(path, body)).toMatchObject({ status: 400, json: { error: expect.any(String), field } });
    expect((await api.get(summary)).json).toMatchObject({ keys: [] });
    expect((await api.post(`/runs/${randomUUID()}/rank-metrics`, body)).status).toBe(404);
  });

  test("nan in the body is not JSON: 400; a body of more than 4 MiB is 413", async () => {
    const { api, path } = await freshRun();
    const rawBody = '{"metrics":{"a":nan},"step":0,"rank":0,"world_size":1}';
    expect((await api.call("POST", path, { rawBody })).status).toBe(400);
    const large = JSON.stringify({ ...report(), padding: "x".repeat(4 * 1024 * 1024) });
    expect((await api.call("POST", path, { rawBody: large })).status).toBe(413);
  });

  test.each([
    ["limit=0", 404],
    ["limit=5001", 404],
    ["limit=x", 404],
    ["start_step=-1", 404],
    ["end_step=Infinity", 404],
    ["start_step=2&end_step=1", 404],
    // These are not valid queries of any route.
    ["key=a&key=b", 400],
    ["key=%00", 400],
  ])("GET with %s is 400, and %i for a run that is not there", async (query, ofMissing) => {
    const { api, summary } = await freshRun();
    expect(await api.get(`${summary}?${query}`)).toMatchObject({ status: 400, json: { error: expect.any(String) } });
    expect((await api.get(`/api/runs/${randomUUID()}/rank-metrics/summary?${query}`)).status).toBe(ofMissing);
  });

  test("without credentials both are 401, with a key of the other scope 403", async () => {
    const { api, path, summary } = await freshRun();
    expect((await api.as(null).post(path, report())).status).toBe(401);
    expect((await api.as(null).get(summary)).status).toBe(401);
    const { api: reader } = await stack().organization({ scopes: ["export:read"] });
    const { api: writer } = await stack().organization({ scopes: ["sdk:ingest"] });
    expect((await reader.post(path, report())).status).toBe(403);
    expect((await writer.get(summary)).status).toBe(403);
  });

  test("both are 404 for a run that does not exist", async () => {
    const { api } = await freshRun();
    for (const run of [randomUUID(), "nonsense"]) {
      const missing = { status: 404, json: { error: "run not found" } };
      expect(await api.post(`/runs/${run}/rank-metrics`, report())).toMatchObject(missing);
      expect(await api.get(`/api/runs/${run}/rank-metrics/summary`)).toMatchObject(missing);
    }
  });

  test("another organization's run is not there", async () => {
    const { api, path, summary } = await freshRun();
    await api.post(path, report());
    const { api: stranger } = await freshRun();
    expect((await stranger.post(path, report({ metrics: { loss: 7 } }))).status).toBe(404);
    expect((await stranger.get(summary)).status).toBe(404);
    expect((await api.get(summary)).json.reducers).toMatchObject([{ mean: 1 }]);
  });
});
