import { describe, expect, test } from "@jest/globals";
import { importChunk } from "../stack/imports.ts";
import { describeModes } from "../stack/modes.ts";

const documents = {
  neptune: { project: "p", runs: [{ id: "n", metrics: [{ key: "loss", step: 1, value: 2 }] }] },
  wandb: { project: "p", runs: [{ id: "w", history: [{ loss: 1 }, { loss: 2, _step: 9 }] }] },
  mlflow: { project: "p", runs: [{ info: { run_id: "m" }, data: { metrics: [{ key: "loss", value: 1, step: 1 }] } }] },
};
type Source = keyof typeof documents;
const sources = Object.keys(documents) as Source[];
const points: Record<Source, number> = { neptune: 1, wandb: 2, mlflow: 1 };

describeModes("documents of other trackers", (stack) => {
  describe.each(sources)("%s", (source) => {
    const path = `/api/imports/${source}`;

    test("become new runs with every call", async () => {
      const { api, orgId } = await stack().organization();
      for (const id of [1, 2]) {
        const answer = await api.post(path, documents[source]);
        const summary = { runs: 1, metrics: points[source], attributes: 0, artifacts: 0 };
        expect([answer.status, answer.json.dry_run, answer.json.summary]).toEqual([200, false, summary]);
        expect(answer.json.import).toMatchObject({
          id,
          org_id: orgId,
          status: "completed",
          source_type: `${source}_json`,
          schema_version: 1,
          dedupe_policy: "legacy",
          run_ids: [expect.any(String)],
        });
      }
      const { runs } = (await api.get("/runs?project=p")).json;
      expect(runs).toHaveLength(2);
      const { metrics } = (await api.get(`/runs/${runs[0].id}/metrics`)).json;
      expect(metrics).toHaveLength(points[source]);
      expect((await api.get("/api/imports")).json.imports).toMatchObject([{ id: 2 }, { id: 1 }]);
    });

    test("are only validated with dry_run=true", async () => {
      const { api } = await stack().organization();
      const dry = await api.post(`${path}?dry_run=true`, documents[source]);
      expect(dry).toMatchObject({ status: 200, json: { dry_run: true, summary: { runs: 1 } } });
      expect(dry.json.import).toBeUndefined();
      expect((await api.get("/projects")).json.projects).toEqual([]);
      expect((await api.get("/api/imports")).json.imports).toEqual([]);
      const body = { ...documents[source], dry_run: true };
      expect((await api.post(`${path}?dry_run=1`, body)).json.dry_run).toBe(false);
    });

    test("are refused without a list of runs", async () => {
      const { api } = await stack().organization();
      for (const runs of [undefined, null, {}, [1]]) {
        expect(await api.post(path, { project: "p", runs })).toMatchObject({ status: 400, json: { field: "runs" } });
      }
      expect((await api.get("/api/imports")).json.imports).toEqual([]);
    });
  });

  test("of mlflow have a project of their own, the others must name one", async () => {
    const { api } = await stack().organization();
    const { runs } = documents.mlflow;
    expect((await api.post("/api/imports/mlflow", { runs })).json.import.target_project).toBe("mlflow-import");
    for (const source of ["wandb", "neptune"]) {
      expect(await api.post(`/api/imports/${source}`, { runs: [] })).toMatchObject({ status: 400 });
    }
  });

  test("count for later jobs", async () => {
    const { api } = await stack().organization();
    await api.post("/api/imports/wandb", documents.wandb);
    const job = await importChunk(
      api,
      { runs: [{ source_run_id: "w" }, { source_run_id: "v" }] },
      { project: "p", sourceProject: "p" },
    );
    expect(job.json.summary).toMatchObject({ runs: 1, skipped_runs: 1 });
  });
});
