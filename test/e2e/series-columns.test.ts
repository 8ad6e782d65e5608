import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

// One file, because all cases share a stack in each mode.

const PATH = "/api/metrics/series";

describeModes("series as columns", (stack) => {
  const freshRun = async (more: object = {}): Promise<{ api: Api; id: string }> => {
    const { api } = await stack().organization();
    return { api, id: (await api.post("/runs", more)).json.run.id };
  };
  const write = async (api: Api, id: string, points: readonly object[]): Promise<void> => {
    for (let from = 0; from < points.length; from += 500) {
      const batch = { points: points.slice(from, from + 500) };
      expect((await api.post(`/runs/${id}/metrics/batch`, batch)).status).toBe(200);
    }
  };
  const line = (count: number, first = 0) =>
    Array.from({ length: count }, (_, i) => ({ metrics: { a: (first + i) % 7, b: -i }, step: first + i }));
  const ask = async (api: Api, body: object) => {
    const answer = await api.post(PATH, { format: "columns", ...body });
    expect({ status: answer.status, error: answer.json.error }).toEqual({ status: 200, error: undefined });
    return answer.json;
  };

  test("a short series is returned raw, of several keys in the order of keys and runs, with the facts of the form without format", async () => {
    const { api, id } = await freshRun();
    const timestamp = "2026-03-01T10:00:00.123456Z";
    await write(api, id, [
      { metrics: { a: 1 }, step: 0, timestamp },
      { metrics: { a: 2, b: 3 }, step: 1.5, timestamp },
    ]);
    const answer = await ask(api, { keys: ["b", "a"], run_ids: [id, id], buckets: 10 });
    const time = Date.parse(timestamp);
    const raw = (key: string, columns: object) => ({ run_id: id, key, columns, truncated: false, sampled: false });
    const none = { step: [], value: [], time: [] };
    expect(answer).toEqual({
      format: "columns",
      series: [
        raw("b", { step: [1.5], value: [3], time: [time] }),
        raw("b", none),
        raw("a", { step: [0, 1.5], value: [1, 2], time: [time, time] }),
        raw("a", none),
      ],
      truncated: false,
      requested_limit: 1000,
      effective_limit: 1000,
      requested_buckets: 10,
      effective_buckets: 10,
      run_count: 2,
      total_point_cap: 120_000,
    });
  });

  test("without buckets a series loses its tail behind the limit, and says so", async () => {
    const { api, id } = await freshRun();
    await write(api, id, line(20));
    const answer = await ask(api, { key: "a", run_ids: [id], limit: 3 });
    expect(answer).toMatchObject({ truncated: true, requested_buckets: null, effective_buckets: null });
    expect(answer.series[0]).toMatchObject({ truncated: true, sampled: false, columns: { step: [0, 1, 2] } });
    expect(await ask(api, { key: "a", run_ids: [id], limit: 10_000 })).toMatchObject({ effective_limit: 5000 });
  });

  test("a longer one is returned as buckets of equal width, also between bounds, with one point beyond each on request", async () => {
    const { api, id } = await freshRun();
    await write(api, id, line(1000));
    const whole = await ask(api, { key: "b", run_ids: [id], buckets: 10 });
    expect(whole.series[0]).toEqual({
      run_id: id,
      key: "b",
      truncated: false,
      sampled: true,
      columns: {
        step: Array.from({ length: 10 }, (_, i) => 100 * i),
        min: Array.from({ length: 10 }, (_, i) => -100 * i - 99),
        max: Array.from({ length: 10 }, (_, i) => 0 - 100 * i),
        mean: Array.from({ length: 10 }, (_, i) => -100 * i - 49.5),
        count: Array(10).fill(100),
        first: Array.from({ length: 10 }, (_, i) => 0 - 100 * i),
        last: Array.from({ length: 10 }, (_, i) => -100 * i - 99),
      },
    });
    const zoom = { key: "b", run_ids: [id], buckets: 5, start_step: 300, end_step: 399 };
    expect((await ask(api, zoom)).series[0].columns).toMatchObject({
      step: [300, 320, 340, 360, 380],
      count: [20, 20, 20, 20, 20],
    });
    expect((await ask(api, { ...zoom, edges: true })).series[0].columns).toMatchObject({
      step: [299, 300, 320, 340, 360, 380, 400],
      count: [1, 20, 20, 20, 20, 20, 1],
      mean: [-299, -309.5, -329.5, -349.5, -369.5, -389.5, -400],
    });
    const few = { ...zoom, start_step: 300.5, end_step: 302, edges: true };
    expect((await ask(api, few)).series[0]).toMatchObject({ sampled: false, columns: { step: [300, 301, 302, 303] } });
  });

  test("a shared grid cuts all series alike, an own one each by its range", async () => {
    const { api, id } = await freshRun();
    const later = (await api.post("/runs", {})).json.run.id;
    await write(api, id, line(100));
    await write(api, later, line(100, 100));
    const body = { key: "a", run_ids: [id, later], buckets: 20 };
    const stepsOf = async (grid: string | undefined) =>
      (await ask(api, { ...body, grid })).series.map(({ columns }: { columns: { step: number[] } }) =>
        columns.step.slice(0, 3),
      );
    expect(await stepsOf("shared")).toEqual([
      [0, 10, 20],
      [100, 110, 120],
    ]);
    for (const grid of ["own", undefined]) {
      expect(await stepsOf(grid)).toEqual([
        [0, 5, 10],
        [100, 105, 110],
      ]);
    }
  });

  test("only points after a step are returned for a chart that continues", async () => {
    const { api, id } = await freshRun();
    await write(api, id, line(30));
    const after = async (after_step: number) =>
      (await ask(api, { key: "a", run_ids: [id], after_step })).series[0].columns.step;
    expect(await after(27)).toEqual([28, 29]);
    expect(await after(29)).toEqual([]);
    expect(await after(28.5)).toEqual([29]);
  });

  test("the number of buckets falls so that all series together keep to 120,000", async () => {
    const { api, id } = await freshRun();
    const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
    const answer = await ask(api, { keys, run_ids: Array(40).fill(id), buckets: 4096 });
    expect(answer).toMatchObject({
      requested_buckets: 4096,
      effective_buckets: 60,
      effective_limit: 60,
      run_count: 40,
    });
    expect(answer.series).toHaveLength(2000);
  });

  test("another axis adds a column x and orders by it", async () => {
    const { api, id } = await freshRun();
    const started = Date.parse((await api.get(`/runs/${id}`)).json.run.started_at);
    const at = (seconds: number) => new Date(started + 1000 * seconds).toISOString();
    await write(api, id, [
      { metrics: { a: 1, clock: 30 }, step: 0, timestamp: at(2) },
      { metrics: { a: 2, clock: 10 }, step: 1, timestamp: at(1) },
      { metrics: { a: 3 }, step: 2, timestamp: at(3) },
    ]);
    const by = async (x: string, more = {}) =>
      (await ask(api, { key: "a", run_ids: [id], x, ...more })).series[0].columns;
    expect(await by("time")).toMatchObject({
      x: [1, 2, 3].map((s) => started + 1000 * s),
      value: [2, 1, 3],
      step: [1, 0, 2],
    });
    const { x, value } = await by("relative");
    expect(value).toEqual([2, 1, 3]);
    expect(x.map((seconds: number) => Math.round(seconds))).toEqual([1, 2, 3]);
    // A point from before the run started moves the beginning, not the point below zero.
    await write(api, id, [{ metrics: { early: 1 }, step: 0, timestamp: at(-60) }]);
    const [early, a] = (await ask(api, { keys: ["early", "a"], run_ids: [id], x: "relative" })).series;
    expect(early.columns.x).toEqual([0]);
    expect(a.columns.x.map((seconds: number) => Math.round(seconds))).toEqual([61, 62, 63]);
    expect(await by("metric:clock")).toMatchObject({ x: [10, 30], value: [2, 1], step: [1, 0] });
    expect(await by("metric:clock", { start_step: 1 })).toMatchObject({ x: [10], value: [2] });
    expect(await by("step")).not.toHaveProperty("x");
    await write(
      api,
      id,
      Array.from({ length: 100 }, (_, i) => ({ metrics: { a: i, clock: 100 + i }, step: 10 + i })),
    );
    const buckets = await by("metric:clock", { buckets: 4, start_step: 10 });
    expect(buckets).toMatchObject({
      x: [100, 125, 150, 175],
      count: [25, 25, 25, 25],
      step: [10, 35, 60, 85],
      mean: [12, 37, 62, 87],
    });
  });

  test("a smoothed curve is the same however much of it is shown, and leaves the values as they are", async () => {
    const { api, id } = await freshRun();
    await write(api, id, line(600));
    for (const smoothing of [
      { kind: "ema", parameter: 0.9 },
      { kind: "gaussian", parameter: 3 },
      { kind: "mean", parameter: 10 },
    ]) {
      const body = { key: "a", run_ids: [id], smoothing };
      const all = (await ask(api, { ...body, buckets: 1000 })).series[0].columns;
      expect(all.value).toEqual(line(600).map(({ metrics }) => metrics.a));
      expect(all.smoothed).toHaveLength(600);
      const zoomed = (await ask(api, { ...body, start_step: 200, end_step: 210, edges: true })).series[0].columns;
      expect(zoomed.smoothed).toEqual(all.smoothed.slice(199, 212));
      const [bucket] = (await ask(api, { ...body, buckets: 6 })).series[0].columns.smoothed;
      const mean = all.smoothed.slice(0, 100).reduce((sum: number, value: number) => sum + value, 0) / 100;
      expect(bucket).toBeCloseTo(mean, 12);
    }
    const { value, smoothed } = (await ask(api, { key: "a", run_ids: [id], smoothing: { kind: "ema", parameter: 0 } }))
      .series[0].columns;
    expect(smoothed).toEqual(value);
  });

  test("a fork shows what its parents had up to the steps of the forks, if the caller may see them", async () => {
    const { api, id } = await freshRun();
    await write(api, id, line(10));
    const fork = async (parent: string, step: number): Promise<string> =>
      (await api.post(`/api/runs/${parent}/forks`, { step }, { headers: { "idempotency-key": randomUUID() } })).json.run
        .id;
    const child = await fork(id, 5);
    await write(api, child, line(4, 6));
    const grandchild = await fork(child, 7);
    await write(api, grandchild, line(3, 8));
    const stepsOf = async (run: string, more: object = {}) =>
      (await ask(api, { key: "a", run_ids: [run], lineage: true, ...more })).series[0].columns.step;
    expect(await stepsOf(id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await stepsOf(child)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await stepsOf(grandchild)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(await stepsOf(grandchild, { start_step: 4, end_step: 8 })).toEqual([4, 5, 6, 7, 8]);
    expect(await stepsOf(grandchild, { lineage: false })).toEqual([8, 9, 10]);
    const buckets = (await ask(api, { key: "b", run_ids: [grandchild], lineage: true, buckets: 2 })).series[0].columns;
    expect(buckets).toMatchObject({ count: [6, 5], first: [0, 0], last: [-5, -2] });
  });

  test("an answer that the client has is not sent again until a run gets points, and each question has its own tag", async () => {
    const { api, id } = await freshRun();
    await write(api, id, line(3));
    const body = { format: "columns", key: "a", run_ids: [id] };
    const tagOf = async (more: object) => String((await api.post(PATH, { ...body, ...more })).headers["etag"]);
    const variants = [
      {},
      { buckets: 5 },
      { edges: true },
      { grid: "shared" },
      { after_step: 1 },
      { x: "time" },
      { smoothing: { kind: "mean", parameter: 3 } },
      { smoothing: { kind: "mean", parameter: 4 } },
      { limit: 2 },
    ];
    const tags = await Promise.all(variants.map(tagOf));
    expect(new Set(tags).size).toBe(variants.length);
    const again = (tag: string) => api.post(PATH, body, { headers: { "if-none-match": tag } });
    expect(tags[0]).toMatch(/^W\/"[\w-]+"$/);
    expect(await again(tags[0]!)).toMatchObject({ status: 304 });
    expect(await again(tags[1]!)).toMatchObject({ status: 200 });
    await write(api, id, line(1, 9));
    expect(await again(tags[0]!)).toMatchObject({ status: 200 });
  });

  test("is compressed on request", async () => {
    const { api, id } = await freshRun();
    await write(api, id, line(500));
    const body = { format: "columns", key: "a", run_ids: [id] };
    const plain = await api.post(PATH, body);
    const small = await api.post(PATH, body, { headers: { "accept-encoding": "gzip" } });
    expect(small.headers["content-encoding"]).toBe("gzip");
    expect(Number(small.headers["content-length"])).toBeLessThan(plain.text.length / 3);
  });

  const run_ids = [randomUUID()];
  test.each<[string, object, string]>([
    ["an unknown format", { key: "a", run_ids, format: "rows" }, "format"],
    ["a format that is not a string", { key: "a", run_ids, format: 1 }, "format"],
    ["neither key nor keys", { run_ids }, "keys"],
    ["both key and keys", { key: "a", keys: ["b"], run_ids }, "keys"],
    ["no keys", { keys: [], run_ids }, "keys"],
    ["51 keys", { keys: Array.from({ length: 51 }, (_, i) => `k${i}`), run_ids }, "keys"],
    ["a key twice", { keys: ["a", "a"], run_ids }, "keys"],
    ["an empty key", { key: "", run_ids }, "key"],
    ["no runs", { key: "a" }, "run_ids"],
    ["2,001 runs", { key: "a", run_ids: Array.from({ length: 2001 }, () => randomUUID()) }, "run_ids"],
    ["a limit of 0", { key: "a", run_ids, limit: 0 }, "limit"],
    ["0 buckets", { key: "a", run_ids, buckets: 0 }, "buckets"],
    ["4,097 buckets", { key: "a", run_ids, buckets: 4097 }, "buckets"],
    ["bounds that are turned round", { key: "a", run_ids, start_step: 2, end_step: 1 }, "start_step"],
    ["a bound below 0", { key: "a", run_ids, start_step: -1 }, "start_step"],
    ["edges that are not a boolean", { key: "a", run_ids, edges: "yes" }, "edges"],
    ["lineage that is not a boolean", { key: "a", run_ids, lineage: 1 }, "lineage"],
    ["an unknown grid", { key: "a", run_ids, grid: "common" }, "grid"],
    ["an unknown axis", { key: "a", run_ids, x: "epoch" }, "x"],
    ["an axis that is not a string", { key: "a", run_ids, x: 3 }, "x"],
    ["an axis of no metric", { key: "a", run_ids, x: "metric:" }, "x"],
    ["after_step below 0", { key: "a", run_ids, after_step: -1 }, "after_step"],
    ["after_step and start_step", { key: "a", run_ids, after_step: 1, start_step: 0 }, "after_step"],
    ["after_step and end_step", { key: "a", run_ids, after_step: 1, end_step: 3 }, "after_step"],
    ["after_step and edges", { key: "a", run_ids, after_step: 1, edges: true }, "after_step"],
    ["smoothing that is not an object", { key: "a", run_ids, smoothing: "ema" }, "smoothing"],
    ["an unknown kind of smoothing", { key: "a", run_ids, smoothing: { kind: "median", parameter: 1 } }, "smoothing"],
    ["smoothing without a parameter", { key: "a", run_ids, smoothing: { kind: "ema" } }, "smoothing"],
    ["ema of 1", { key: "a", run_ids, smoothing: { kind: "ema", parameter: 1 } }, "smoothing"],
    ["ema below 0", { key: "a", run_ids, smoothing: { kind: "ema", parameter: -0.1 } }, "smoothing"],
    ["a gaussian of no width", { key: "a", run_ids, smoothing: { kind: "gaussian", parameter: 0 } }, "smoothing"],
    ["a mean of negative width", { key: "a", run_ids, smoothing: { kind: "mean", parameter: -3 } }, "smoothing"],
  ])("%s is 400", async (_what, body, field) => {
    const { api } = await stack().organization();
    const answer = await api.post(PATH, { format: "columns", ...body });
    expect({ status: answer.status, field: answer.json.field }).toEqual({ status: 400, field });
  });

  test("without format the other fields mean nothing", async () => {
    const { api, id } = await freshRun();
    await write(api, id, line(3));
    const plain = await api.post(PATH, { key: "a", run_ids: [id] });
    const more = { keys: ["b"], grid: "?", x: 1, smoothing: "?", edges: 3, after_step: -1, lineage: "?", format: null };
    expect((await api.post(PATH, { key: "a", run_ids: [id], ...more })).json).toEqual(plain.json);
  });

  test("a run that cannot be seen is 404 for the whole call, without credentials it is 401", async () => {
    const { api, id } = await freshRun();
    const foreign = await freshRun();
    for (const more of [{}, { lineage: true }, { x: "relative" }]) {
      const body = { format: "columns", key: "a", run_ids: [id, foreign.id], ...more };
      expect((await api.post(PATH, body)).status).toBe(404);
    }
    expect((await api.as(null).post(PATH, { format: "columns", key: "a", run_ids: [id] })).status).toBe(401);
  });
});
