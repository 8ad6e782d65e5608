import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

describeModes("values that are not finite", (stack) => {
  const sendRaw = (api: Api, path: string, rawBody: string) => api.post(path, undefined, { rawBody });

  /** A run whose loss diverges, with a metric that never was finite and one that always was. */
  const divergedRun = async (api: Api, name: string) => {
    const { id } = (await api.post("/runs", { name, project: "p" })).json.run as { id: string };
    const path = `/runs/${id}/metrics`;
    const bodies = [
      [path, '{"metrics": {"loss": 2, "fine": 1, "never": NaN}, "step": 0}'],
      [path, '{"metrics": {"loss": -Infinity, "fine": 1}, "step": 1}'],
      [path, '{"metrics": {"loss": 1, "fine": 1}, "step": 2}'],
      [
        `${path}/batch`,
        '{"points": [{"metrics": {"loss": NaN}, "step": 3}, {"metrics": {"loss": "Infinity", "never": "NaN"}, "step": 4}]}',
      ],
    ] as const;
    for (const [to, body] of bodies) expect(await sendRaw(api, to, body)).toMatchObject({ status: 200 });
    return id;
  };

  test("are points, and are refused as steps and beyond the range of a double", async () => {
    const { api } = await stack().organization();
    const id = await divergedRun(api, "a");
    const points = (await api.get(`/runs/${id}/metrics?key=loss`)).json.metrics as { step: number; value: unknown }[];
    const values = [2, "-Infinity", 1, "NaN", "Infinity"];
    expect(points.map(({ value }) => value)).toEqual(values);
    const ask = async (more: object) =>
      (await api.post("/api/metrics/series", { run_ids: [id], ...more })).json.series[0] as Record<string, unknown>;
    expect((await ask({ key: "loss" }))["metrics"]).toEqual(points);
    const raw = await ask({ key: "loss", format: "columns" });
    expect(raw["columns"]).toMatchObject({ step: [0, 1, 2, 3, 4], value: values });
    const nothing = { min: [1, null], max: [2, null], mean: [1.5, null], first: [2, null], last: [1, null] };
    expect((await ask({ key: "loss", format: "columns", buckets: 2, end_step: 5, start_step: 0 }))["columns"]).toEqual({
      step: [0, 3],
      ...nothing,
      count: [2, 0],
      non_finite: [1, 2],
    });
    expect((await ask({ key: "fine", format: "columns", buckets: 2 }))["columns"]).not.toHaveProperty("non_finite");
    for (const body of [
      '{"metrics": {"loss": 1e999}, "step": 5}',
      '{"metrics": {"loss": 1}, "step": NaN}',
      '{"metrics": {"loss": 1}, "step": "Infinity"}',
      '{"metrics": {"loss": nan}, "step": 5}',
      '{"metrics": NaN, "step": 5}',
    ])
      expect(await sendRaw(api, `/runs/${id}/metrics`, body)).toMatchObject({ status: 400 });
    expect((await sendRaw(api, "/api/auth/api-key", '{"api_key": NaN}')).status).toBe(400);
  });

  test("are counted by aggregates, whose other figures, orders, filters and correlations are over finite values", async () => {
    const { api } = await stack().organization();
    const id = await divergedRun(api, "diverged");
    const other = (await api.post("/runs", { name: "other", project: "p" })).json.run.id as string;
    await api.post(`/runs/${other}/metrics`, { metrics: { loss: 1.5, never: 7 }, step: 0 });
    const never = { latest: null, min: null, max: null, mean: null, variance: null, best: null, best_step: null };
    const shown = (await api.get(`/runs/${id}`)).json.run;
    expect(shown.metric_aggregates).toEqual({
      loss: {
        latest: 1,
        min: 1,
        max: 2,
        mean: 1.5,
        variance: 0.25,
        count: 2,
        best: 1,
        best_step: 2,
        non_finite: 3,
        non_finite_step: 4,
        latest_step: 2,
      },
      fine: { latest: 1, min: 1, max: 1, mean: 1, variance: 0, count: 3, best: 1, best_step: 0 },
      never: { ...never, count: 0, non_finite: 2, non_finite_step: 4, latest_step: null },
    });
    expect(shown.latest_metrics).toEqual({ fine: 1, loss: 1, never: null });
    const listed = async (query: string) =>
      (await api.get(`/api/runs/summary?${query}`)).json.runs.map(({ name }: { name: string }) => name) as string[];
    for (const dir of ["asc", "desc"]) {
      expect(await listed(`sort_by=metrics.never&sort_dir=${dir}`)).toEqual(["other", "diverged"]);
      const byKey = `sort=metric-latest&metric=never&direction=${dir}`;
      expect(await listed(byKey)).toEqual(["other", "diverged"]);
      expect(await listed(`${byKey}&project=p&q=r`)).toEqual(["other", "diverged"]);
    }
    expect(await listed("sort_by=metrics.loss&sort_dir=asc")).toEqual(["diverged", "other"]);
    for (const [q, names] of [
      ["metrics.never>0", ["other"]],
      ["metrics.never!=0", ["other"]],
      ["metrics.never.count=0", ["diverged"]],
      ["metrics.loss.mean>=1.5", ["other", "diverged"]],
    ] as const)
      expect({ q, names: await listed(`q=${encodeURIComponent(q)}`) }).toEqual({ q, names });
    const columns = ["metrics.never", "metrics.never.count", "metrics.loss", "metrics.loss.max", "metrics.fine"];
    const row = (await api.get(`/api/runs/summary?columns=${columns.join()}&q=diverged`)).json.runs[0];
    expect(columns.map((name) => row.columns[name])).toEqual([null, 0, 1, 2, 1]);
    expect(row.non_finite_columns).toEqual(["metrics.never", "metrics.loss"]);
    const fine = (await api.get(`/api/runs/summary?columns=${columns.join()}&q=other`)).json.runs[0];
    expect(fine).not.toHaveProperty("non_finite_columns");
    const compared = await api.get(`/api/runs/side-by-side?run_ids=${id},${other}`);
    expect(compared.status).toBe(200);
    const rows = compared.json.rows as { path: string; values: unknown }[];
    expect(rows.find(({ path }) => path === "metric/never/latest")?.values).toEqual({ [id]: null, [other]: 7 });
    expect(rows.filter(({ path }) => path.endsWith("/non_finite_step"))).toMatchObject([
      { path: "metric/loss/non_finite_step", values: { [id]: 4, [other]: null }, different: true },
      { path: "metric/never/non_finite_step", values: { [id]: 4, [other]: null }, different: true },
    ]);
    const { correlations } = (
      await api.post("/api/runs/correlations", { run_ids: [id, other], metric: "loss", columns: ["metrics.never"] })
    ).json;
    expect(correlations).toMatchObject([{ column: "metrics.never", run_count: 1 }]);
    const groups = await api.post("/api/metrics/groups", { run_ids: [id, other], keys: ["never"], by: [] });
    expect(groups.json.groups[0]).toMatchObject({
      series: [{ columns: { step: [0], mean: [7], count: [1] } }],
      aggregates: [{ latest: { mean: 7, count: 1 } }],
    });
  });

  test("become texts in documents, and are refused by other fields", async () => {
    const { api } = await stack().organization();
    const created = await sendRaw(
      api,
      "/runs",
      '{"name": "d", "project": "p", "config": {"lr": NaN, "deep": [{"x": -Infinity}]}, "metadata": {"a": Infinity}}',
    );
    expect(created.json.run).toMatchObject({
      config: { lr: "NaN", deep: [{ x: "-Infinity" }] },
      metadata: { a: "Infinity" },
    });
    const { id } = created.json.run as { id: string };
    const logged = await sendRaw(
      api,
      `/api/runs/${id}/attributes`,
      '{"attributes": [{"path": "a", "type": "config", "value": NaN}, {"path": "b", "type": "config", "value": [Infinity]}]}',
    );
    expect(logged.json.attributes.map(({ value }: { value: unknown }) => value)).toEqual(["NaN", ["Infinity"]]);
    const rows = '{"key": "t", "kind": "table", "rows": [{"a": NaN, "b": 1}, {"a": {"c": -Infinity}}]}';
    const { object } = (await sendRaw(api, `/api/runs/${id}/objects`, rows)).json;
    const table = (await api.get(`/api/objects/${object.id}/rows`)).json;
    expect(JSON.stringify(table)).toContain('"a":"NaN"');
    expect(JSON.stringify(table)).toContain('{"c":"-Infinity"}');
    expect(await sendRaw(api, "/runs", '{"name": NaN, "project": "p"}')).toMatchObject({ status: 400 });
    expect(await sendRaw(api, "/runs", '{"name": "x", "config": {"a": 1e999}}')).toMatchObject({ status: 400 });
    const step = '{"path": "a", "type": "config", "value": 1, "step": NaN}';
    expect(await sendRaw(api, `/api/runs/${id}/attributes`, step)).toMatchObject({ status: 400 });
  });

  test("of ranks are kept, also together with keys without a value", async () => {
    const { api } = await stack().organization();
    const { id } = (await api.post("/runs", { name: "r", project: "p" })).json.run as { id: string };
    for (const [rank, load] of ["1", "NaN", '"Infinity"', "3"].entries()) {
      const body = `{"metrics": {"load": ${load}}, "step": 1, "rank": ${rank}, "world_size": 4}`;
      expect((await sendRaw(api, `/runs/${id}/rank-metrics`, body)).status).toBe(200);
    }
    const { reducers, heatmap, outliers } = (await api.get(`/api/runs/${id}/rank-metrics/summary`)).json;
    expect(reducers).toMatchObject([{ rank_count: 4, mean: 2, min: 1, max: 3, non_finite: 2 }]);
    expect(heatmap.map(({ value }: { value: unknown }) => value)).toEqual([1, "NaN", "Infinity", 3]);
    expect(outliers).toHaveLength(2);
  });

  test("are exported, and restored as they were", async () => {
    const { api } = await stack().organization();
    const id = await divergedRun(api, "e");
    const json = (await api.get(`/api/export?run_ids=${id}`)).json;
    const ofLoss = json.metrics.filter(({ key }: { key: string }) => key === "loss") as { value: unknown }[];
    expect(ofLoss.map(({ value }) => value)).toEqual([2, "-Infinity", 1, "NaN", "Infinity"]);
    const series = json.metric_series as { key: string }[];
    expect(series.find(({ key }) => key === "never")).toMatchObject({ count: 0, latest: null, non_finite: 2 });
    expect(series.find(({ key }) => key === "fine")).not.toHaveProperty("non_finite");
    const csv = (await api.get(`/api/export?run_ids=${id}&format=csv`)).text;
    expect(csv).toMatch(/^metric,.*,loss,,3,NaN,/m);
    expect(csv).toMatch(/^metric,.*,loss,,1,-Infinity,/m);
    expect((await api.get(`/api/export?run_ids=${id}&format=parquet`)).status).toBe(200);
    const archive = (await api.get(`/api/export?run_ids=${id}&format=ndjson`)).text;
    expect(archive).toContain('"value":[2,"-Infinity",1,"NaN","Infinity"]');
    const { api: target } = await stack().organization();
    const restored = await target.post("/api/imports/archive", undefined, {
      rawBody: archive,
      headers: { "content-type": "application/x-ndjson", "idempotency-key": randomUUID() },
    });
    expect(restored.status).toBe(200);
    const again = (await target.get("/api/runs/summary")).json.runs[0];
    expect(again.metric_aggregates).toEqual((await api.get(`/runs/${id}`)).json.run.metric_aggregates);
  });
});
