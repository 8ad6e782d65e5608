import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { createTeam } from "../stack/people.ts";

const PATH = "/api/workspace-view-data";
const panels = (...list: object[]) => ({ sections: [{ id: "s", name: "Charts", panels: list }] });

async function runWith(api: Api, name: string, metrics: readonly Record<string, number>[]): Promise<string> {
  const { id } = (await api.post("/runs", { name, project: "p", config: { seed: 1 } })).json.run as { id: string };
  if (metrics.length > 0) {
    const points = metrics.map((values, step) => ({ step, metrics: values }));
    expect((await api.post(`/runs/${id}/metrics/batch`, { points })).status).toBe(200);
  }
  return id;
}

describeModes("the data of a view", (stack) => {
  test("is that of the API's own reads", async () => {
    const { api } = await stack().organization();
    const a = await runWith(api, "a", [{ loss: 3, acc: 0.5 }, { loss: 1 }, { loss: 2 }]);
    const b = await runWith(api, "b", []);
    const view = panels({ id: "p1", title: "Loss", metricKey: "loss" }, { metricKey: "acc", type: "bar" });
    const { status, json } = await api.post(PATH, { view, run_ids: [b, a, b.toUpperCase()] });
    expect(status).toBe(200);
    const data = json.view_data;
    expect(data).toMatchObject({ schema_version: 1, run_ids: [b, a], metric_keys: ["loss", "acc"], warnings: [] });

    const series = (await api.post("/api/metrics/series", { key: "loss", run_ids: [b, a] })).json.series;
    expect(data.metric_series).toEqual([{ metric_key: "loss", series }]);
    const { run } = (await api.get(`/runs/${a}`)).json;
    const { run_control, metric_next_cursor: _cursor, ...summary } = run;
    const { reason: _reason, completion_message: _message, ...control } = run_control;
    expect(data.runs[1]).toEqual({ ...summary, metric_keys: ["acc", "loss"], run_control: control });

    const { acc, loss } = run.metric_aggregates;
    expect(data.panels).toMatchObject([
      {
        id: "p1",
        data_kind: "metric_series",
        series_key: "loss",
        summary_values: [
          { run_id: b, latest: null, aggregate: null },
          { run_id: a, latest: 2, aggregate: loss },
        ],
      },
      {
        id: "panel-2",
        data_kind: "metric_summary",
        series_key: null,
        summary_values: [{ run_id: b }, { run_id: a, latest: 0.5, aggregate: acc }],
      },
    ]);
    expect(data.limits).toMatchObject({ panels: 20, points_per_series: 500, total_points: 3 });
  });

  test("has at most the points that were requested, and says what was left out", async () => {
    const { api } = await stack().organization();
    const id = await runWith(
      api,
      "a",
      Array.from({ length: 300 }, (_, step) => ({ loss: Math.sin(step) })),
    );
    const view = panels({ metricKey: "loss" }, { metricKey: "other" });
    for (const limit of [1, 3, 4, 10, 299, 300]) {
      const options = { metric_point_limit: limit, max_panels: 1 };
      const { view_data: data } = (await api.post(PATH, { view, run_ids: [id], options })).json;
      const [series] = data.metric_series[0].series as { metrics: unknown[]; sampled: boolean }[];
      expect([limit, series!.metrics.length <= limit, series!.metrics.length > limit / 2]).toEqual([limit, true, true]);
      expect(series!.sampled).toBe(limit >= 4 && limit < 300);
      expect([data.panels.length, data.warnings]).toEqual([1, [expect.stringContaining("2 panels")]]);
      expect(data.limits).toMatchObject({ points_per_series: limit, total_points: series!.metrics.length, panels: 1 });
    }
    const wide = (await api.post(PATH, { view, run_ids: [id], options: { metric_point_limit: 9999 } })).json.view_data;
    expect(wide.warnings).toEqual([expect.stringContaining("500 was taken")]);
  });

  test("is requested with an exported view, a saved one, or a payload; all are sanitized", async () => {
    const { api, owner } = await ofTeam();
    const id = await runWith(api, "a", [{ loss: 1 }]);
    const payload = { workspaceView: panels({ metricKey: "loss" }), apiKey: "x" };
    const saved = (await owner.browser.post("/api/workspace-views", { name: "v", payload })).json.workspace_view;
    const exported = (await owner.browser.get(`/api/workspace-views/${saved.id}/export`)).json;
    for (const [view, warnings] of [
      [exported, []],
      [saved, [expect.stringContaining("$.apiKey")]],
      [payload, [expect.stringContaining("$.apiKey")]],
    ] as const) {
      const { status, json } = await api.post(PATH, { view, run_ids: [id] });
      expect([status, json.view_data?.metric_keys, json.view_data?.warnings]).toEqual([200, ["loss"], warnings]);
    }
    const changed = { ...exported, view: { ...exported.view, payload: {} } };
    expect((await api.post(PATH, { view: changed, run_ids: [id] })).json.field).toBe("view");
    const alone = await api.post(PATH, { view: { metricKey: "loss" }, run_ids: [id] });
    expect(alone.json.view_data).toMatchObject({ panels: [], metric_series: [{ metric_key: "loss" }] });
  });

  async function ofTeam() {
    const team = await createTeam(stack());
    const made = await stack().api.post(
      `/api/orgs/${team.orgId}/api-keys`,
      { name: "k" },
      { key: null, headers: { "x-svc-bootstrap-token": stack().bootstrapToken } },
    );
    return { ...team, api: stack().api.as(made.json.api_key as string) };
  }

  test("is for every role, and for keys that may read", async () => {
    const team = await ofTeam();
    const body = { view: { metricKey: "loss" }, run_ids: [await runWith(team.api, "a", [])] };
    for (const { browser } of [team.owner, await team.join("viewer")]) {
      expect((await browser.post(PATH, body)).status).toBe(200);
    }
    const writer = await stack().organization({ scopes: ["sdk:ingest"] });
    expect((await writer.api.post(PATH, body)).status).toBe(403);
    expect((await stack().api.post(PATH, body)).status).toBe(401);
  });

  describe("is refused", () => {
    test("with 404 for a run that the caller may not see", async () => {
      const { api } = await stack().organization();
      const stranger = await stack().organization();
      const mine = await runWith(api, "a", []);
      const foreign = await runWith(stranger.api, "b", []);
      const [of, missing] = await Promise.all(
        [foreign, randomUUID()].map((id) => api.post(PATH, { view: { metricKey: "loss" }, run_ids: [mine, id] })),
      );
      expect([of!.status, of!.text]).toEqual([404, missing!.text]);
    });

    test("with 400 and 413 for what it cannot be", async () => {
      const { api } = await stack().organization();
      const id = await runWith(api, "a", []);
      for (const [body, status, field] of [
        [{ run_ids: [id] }, 400, "view"],
        [{ view: {}, run_ids: [] }, 400, "run_ids"],
        [{ view: {}, run_ids: [id], options: { max_panels: "x" } }, 400, "max_panels"],
        [{ view: { a: "x".repeat(70_000) }, run_ids: [id] }, 400, "view"],
        [{ view: { a: "x".repeat(300_000) }, run_ids: [id] }, 413, undefined],
      ] as const) {
        const answer = await api.post(PATH, body);
        expect([answer.status, answer.json.field]).toEqual([status, field]);
      }
    });
  });
});
