import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

const forks = (runId: string): string => `/api/runs/${runId}/forks`;

describeModes("GET /api/runs/{run_id}/lineage", (stack) => {
  const fresh = async (): Promise<Api> => (await stack().organization()).api;
  const runOf = async (api: Api, body: Record<string, unknown> = {}) => (await api.post("/runs", body)).json.run;

  test("200: shows the run, its parent and its children, the newest first", async () => {
    const api = await fresh();
    const top = await runOf(api, { name: "top" });
    const middle = (await api.post(forks(top.id))).json.run;
    const children = [];
    for (let i = 0; i < 3; i += 1) children.push((await api.post(forks(middle.id))).json.run.id);
    await api.post(`/runs/${middle.id}/metrics`, { metrics: { loss: 0.5 }, step: 3 });
    await api.patch(`/runs/${top.id}`, { status: "failed" });
    const { status, text, json } = await api.get(`/api/runs/${middle.id}/lineage`);
    expect([status, text]).toEqual([200, expect.any(String)]);
    expect(Object.keys(json).toSorted()).toEqual(
      ["checkpoint_artifact", "children", "children_total", "has_more_children", "limit", "parent", "run"].toSorted(),
    );
    expect(json).toMatchObject({
      run: { id: middle.id, latest_metrics: { loss: 0.5 }, metric_keys: ["loss"], parent_run_id: top.id },
      parent: { id: top.id, status: "failed", run_control: { display_status: "failed" }, metric_keys: [] },
      checkpoint_artifact: null,
      children_total: 3,
      has_more_children: false,
      limit: 100,
    });
    expect(json.children.map(({ id }: { id: string }) => id)).toEqual(children.toReversed());
    expect(json.children[0].metadata.lineage.source_run_id).toBe(middle.id);
    expect((await api.get(`/api/runs/${top.id}/lineage`)).json).toMatchObject({
      parent: null,
      children: [{ id: middle.id }],
    });
  });

  test.each(["not-a-uuid", randomUUID()])("404: %s", async (id) => {
    const api = await fresh();
    expect(await api.get(`/api/runs/${id}/lineage`)).toMatchObject({ status: 404, json: { error: "run not found" } });
  });

  test("403: a key that may not read", async () => {
    const { api } = await stack().organization({ scopes: ["sdk:ingest"] });
    const { id } = await runOf(api);
    expect((await api.get(`/api/runs/${id}/lineage`)).status).toBe(403);
  });
});
