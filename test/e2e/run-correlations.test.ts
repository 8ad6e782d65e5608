import { describe, expect, test } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { describeModes } from "../stack/modes.ts";

describeModes("correlations", (stack) => {
  const PATH = "/api/runs/correlations";

  const threeRuns = async () => {
    const { api, orgId } = await stack().organization();
    const ids: string[] = [];
    for (const lr of [1, 2, 3]) {
      const { id } = (await api.post("/runs", { project: "p", config: { lr, opt: { wd: -lr } } })).json.run;
      await api.post(`/runs/${id}/metrics`, { metrics: { loss: lr * lr }, step: 0 });
      ids.push(id as string);
    }
    return { api, orgId, ids };
  };

  test("are of the runs of a filter, or of named ones", async () => {
    const { api, ids } = await threeRuns();
    const answer = await api.post(PATH, { metric: "loss", filter: { project: "p" } });
    expect(answer).toMatchObject({
      status: 200,
      json: {
        metric: "metrics.loss.latest",
        run_count: 3,
        correlations: [
          { column: "config.lr", run_count: 3, spearman: 1 },
          { column: "config.opt.wd", run_count: 3, spearman: -1 },
        ],
      },
    });
    expect(answer.json.correlations[0].pearson).toBeCloseTo(0.9897, 3);
    const named = await api.post(PATH, {
      metric: "loss.best",
      run_ids: ids.slice(0, 2),
      columns: ["config.lr", "config.x"],
    });
    expect(named.json).toEqual({
      metric: "metrics.loss.best",
      run_count: 2,
      correlations: [
        { column: "config.lr", run_count: 2, pearson: 1, spearman: 1 },
        { column: "config.x", run_count: 0, pearson: null, spearman: null },
      ],
    });
  });

  test("404 for a run that the caller cannot see", async () => {
    const { api, ids } = await threeRuns();
    const foreign = (await stack().organization()).api;
    expect((await foreign.post(PATH, { metric: "loss", run_ids: ids })).status).toBe(404);
    expect((await api.post(PATH, { metric: "loss", run_ids: [randomUUID()] })).status).toBe(404);
    expect((await foreign.post(PATH, { metric: "loss", filter: {} })).json.run_count).toBe(0);
  });

  describe("400", () => {
    const ids = Array.from({ length: 10_001 }, () => randomUUID());
    const good = { metric: "loss", filter: {} };
    test.each<[string, Record<string, unknown>, string]>([
      ["no metric", { filter: {} }, "metric"],
      ["neither filter nor runs", { metric: "loss" }, "filter"],
      ["both", { ...good, run_ids: [randomUUID()] }, "run_ids"],
      ["10,001 runs", { metric: "loss", run_ids: ids }, "run_ids"],
      ["301 columns", { ...good, columns: Array.from({ length: 301 }, (_, i) => `config.c${i}`) }, "columns"],
      ["an unknown kind of column", { ...good, columns: ["tags.x"] }, "columns"],
      ["an invalid search", { ...good, filter: { q: "status:bad" } }, "q"],
    ])("for %s", async (_what, body, field) => {
      const { api } = await stack().organization();
      expect(await api.post(PATH, body)).toMatchObject({ status: 400, json: { field } });
    });
  });

  test("401 without credentials, 403 for a key that may not read", async () => {
    const { orgId } = await stack().organization();
    expect((await stack().api.post(PATH, { metric: "loss", filter: {} })).status).toBe(401);
    const operator = { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, { scopes: ["sdk:ingest"] }, operator);
    const writer = stack().api.as(made.json.api_key);
    expect((await writer.post(PATH, { metric: "loss", filter: {} })).status).toBe(403);
  });
});
