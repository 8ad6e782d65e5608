import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { createImport, importChunk } from "../stack/imports.ts";
import { describeModes } from "../stack/modes.ts";
import { createTeam } from "../stack/people.ts";

const run = { source_run_id: "a", name: "first", config: { lr: 0.5 }, tags: ["t"], status: "crashed" };
const point = { source_run_id: "a", key: "loss", step: 1, value: 0.25, timestamp: 1_700_000_000 };

const runsOf = async (api: Api, project = "imported") => (await api.get(`/runs?project=${project}`)).json.runs;

describeModes("imports", (stack) => {
  test("store runs, points, attributes and artifacts, once", async () => {
    const { api, orgId } = await stack().organization();
    const job = await createImport(api);
    expect(job.id).toBe(1);
    const created = (await api.get(job.path)).json.job;
    expect(created).toEqual({
      id: 1,
      org_id: orgId,
      project_id: null,
      source_type: "wandb",
      source_project: "team/old",
      target_project: "imported",
      schema_version: 2,
      status: "created",
      dedupe_policy: "skip_existing",
      summary: { runs: 0, metrics: 0, attributes: 0, artifacts: 0, warnings: 0, updated_runs: 0, skipped_runs: 0 },
      warnings: [],
      error_summary: null,
      progress: {
        state: "created",
        chunks: 0,
        final_chunk_received: false,
        batches: 0,
        batches_done: 0,
        metrics_done: 0,
        resumable: false,
      },
      run_ids: [],
      chunk_ids: [],
      accepted_chunk_count: 0,
      committed_batch_count: 0,
      created_by_user_id: null,
      updated_at: expect.any(String),
      created_at: expect.any(String),
      completed_at: null,
    });
    const finished = {
      ...run,
      metadata: { host: "h" },
      started_at: "2026-01-02T03:04:05",
      finished_at: 1_767_326_700.5,
    };
    const first = await job.put({ runs: [finished], metric_points: [point], warnings: [{ code: "x", message: "y" }] });
    expect(first).toMatchObject({ status: 200, json: { duplicate: false, job: { status: "uploading" } } });
    const attribute = { source_run_id: "a", path: "notes/x", type: "string_series", value: "hello", step: 2 };
    const artifact = { source_run_id: "a", name: "best.ckpt", uri: "s3://b/k", size_bytes: 7, step: 3 };
    const last = await job.put(
      {
        metric_points: [
          { ...point, step: 2, value: 0.125, timestamp: "2026-01-02T03:04:05.250000" },
          { source_run_id: "a", key: "acc", step: 2, value: 1, timestamp: null },
        ],
        attributes: [attribute],
        artifact_refs: [artifact],
      },
      { final: true },
    );
    expect(last.json.job).toMatchObject({
      status: "dry_run_ready",
      summary: { runs: 1, metrics: 3, attributes: 1, artifacts: 1, warnings: 1 },
      warnings: [{ code: "x", message: "y" }],
      chunk_ids: ["chunk-0", "chunk-1"],
      progress: { chunks: 2, final_chunk_received: true, batches: 4, batches_done: 0 },
    });
    expect(await runsOf(api)).toEqual([]);
    expect((await api.get("/projects")).json.projects).toEqual([]);

    const committed = await job.commit();
    expect([committed.status, committed.json.error]).toEqual([200, undefined]);
    expect(committed.json.summary).toEqual({
      runs: 1,
      metrics: 3,
      attributes: 1,
      artifacts: 1,
      warnings: 1,
      updated_runs: 0,
      skipped_runs: 0,
    });
    const [imported] = await runsOf(api);
    expect(committed.json.job).toMatchObject({
      status: "committed",
      run_ids: [imported.id],
      project_id: imported.project_id,
      committed_batch_count: 4,
      progress: { batches_done: 4, metrics_done: 3 },
      completed_at: expect.any(String),
    });
    const stored = (await api.get(`/runs/${imported.id}`)).json.run;
    expect(stored).toMatchObject({
      name: "first",
      status: "failed",
      config: { lr: 0.5 },
      tags: ["t", "imported", "wandb"],
      started_at: "2026-01-02T03:04:05Z",
      finished_at: "2026-01-02T04:05:00.5Z",
      metadata: {
        host: "h",
        source: "wandb",
        import: {
          job_id: 1,
          source_type: "wandb",
          source_project: "team/old",
          external_project_id: "team/old",
          external_run_id: "a",
          complete: true,
        },
      },
    });
    const points = (await api.get(`/runs/${imported.id}/metrics`)).json.metrics;
    expect(points).toMatchObject([
      { key: "acc", step: 2, value: 1 },
      { key: "loss", step: 1, value: 0.25, timestamp: "2023-11-14T22:13:20Z" },
      { key: "loss", step: 2, value: 0.125, timestamp: "2026-01-02T03:04:05.25Z" },
    ]);
    const { attributes } = (await api.get(`/api/runs/${imported.id}/attributes`)).json;
    expect(attributes).toMatchObject([{ path: "notes/x", type: "string_series", value: "hello", step: 2 }]);
    const { artifacts } = (await api.get(`/api/runs/${imported.id}/artifacts`)).json;
    expect(artifacts).toMatchObject([
      { type: "checkpoint", name: "best.ckpt", uri: "s3://b/k", step: 3, size_bytes: 7, storage_backend: "external" },
    ]);
    const { collections } = (await api.get("/api/artifact-collections")).json;
    expect(collections).toMatchObject([{ name: "imported-wandb-a-artifacts", type: "checkpoint" }]);

    const again = await job.commit();
    expect(again).toMatchObject({ status: 200, json: { summary: committed.json.summary, job: committed.json.job } });
    expect((await api.get(`/runs/${imported.id}/metrics`)).json.metrics).toHaveLength(3);
  });

  test("skip runs of the source that the project has, in another job and in the same one", async () => {
    const { api } = await stack().organization();
    const parts = { runs: [run], metric_points: [point] };
    await importChunk(api, parts);
    const second = await importChunk(api, { ...parts, runs: [run, run, { ...run, source_run_id: "b" }] });
    expect(second.json.summary).toMatchObject({ runs: 1, metrics: 0, skipped_runs: 2, updated_runs: 0 });
    expect(await runsOf(api)).toHaveLength(2);
    const elsewhere = await importChunk(api, parts, { project: "other" });
    expect(elsewhere.json.summary).toMatchObject({ runs: 1, metrics: 1, skipped_runs: 0 });
    const otherSource = await importChunk(api, parts, { sourceProject: "team/new" });
    expect(otherSource.json.summary).toMatchObject({ runs: 1, skipped_runs: 0 });
  });

  test("append points of TensorBoard that the run does not have", async () => {
    const { api } = await stack().organization();
    const source = { source: "tensorboard" };
    const at = (step: number, value = step) => ({ ...point, step, value });
    await importChunk(api, { runs: [run], metric_points: [at(1), at(2)] }, source);
    const more = [at(2), at(2, 5), { ...at(2), timestamp: null }, { ...at(2), key: "other" }, at(3)];
    const second = await importChunk(api, { runs: [run], metric_points: more }, source);
    expect(second.json.summary).toMatchObject({ runs: 0, updated_runs: 1, skipped_runs: 0, metrics: 4 });
    const [imported] = await runsOf(api);
    expect(second.json.job.run_ids).toEqual([imported.id]);
    expect((await api.get(`/runs/${imported.id}/metrics`)).json.metrics).toHaveLength(6);
    const third = await importChunk(api, { runs: [run], metric_points: more }, source);
    expect(third.json.summary).toMatchObject({ updated_runs: 1, metrics: 0 });
    const rich = { source_run_id: "a", name: "x" };
    const fourth = await importChunk(api, { runs: [run], metric_points: [at(9)], artifact_refs: [rich] }, source);
    expect(fourth.json.summary).toMatchObject({ updated_runs: 0, skipped_runs: 1, metrics: 0, artifacts: 0 });
  });

  test("take the same chunk twice, and refuse another one in its place", async () => {
    const { api } = await stack().organization();
    const job = await createImport(api);
    const first = await job.put({ runs: [run] });
    const again = await job.put({ runs: [run] }, { chunk_id: "chunk-0", sequence: 0 });
    expect(again).toMatchObject({ status: 200, json: { duplicate: true, chunk: first.json.chunk } });
    expect(await job.put({ runs: [] }, { chunk_id: "chunk-0", sequence: 0 })).toMatchObject({ status: 409 });
    expect(await job.put({}, { sequence: 5 })).toMatchObject({ status: 409 });
    await job.put({}, { final: true });
    expect(await job.put({})).toMatchObject({ status: 409 });
    await job.commit();
    const late = await job.put({ runs: [run] }, { chunk_id: "chunk-0", sequence: 0 });
    expect(late).toMatchObject({ status: 200, json: { duplicate: true, job: { status: "committed" } } });
  });

  test("redact secrets before anything is stored, and answer with what is left", async () => {
    const { api, key } = await stack().organization();
    const job = await createImport(api);
    const secret = { api_key: "k", nested: { hf_token: 5, tokens: 7 }, url: "https://u:pw@h/x", note: `use ${key}` };
    const { json } = await job.put({ runs: [{ ...run, config: secret }] }, { final: true });
    const config = {
      api_key: "[REDACTED]",
      nested: { hf_token: "[REDACTED]", tokens: 7 },
      url: "https://u:[REDACTED]@h/x",
      note: "use [REDACTED]",
    };
    expect(json.chunk.payload.runs[0].config).toEqual(config);
    await job.commit();
    const [{ id }] = await runsOf(api);
    expect((await api.get(`/runs/${id}`)).json.run.config).toEqual(config);
  });

  test("check a content_hash", async () => {
    const { api } = await stack().organization();
    const job = await createImport(api);
    const wrong = await job.put({}, { content_hash: "0".repeat(64) });
    expect(wrong).toMatchObject({ status: 400, json: { field: "content_hash" } });
    expect(await job.put({}, { content_hash: "x" })).toMatchObject({ status: 400 });
    const body =
      '{"chunk_id":"c","final":false,"job_id":1,"runs":[{"config":{"lr":1.0},"source_run_id":"a"}],"schema_version":2,"sequence":0,"source_project":"team/old","source_type":"wandb","target_project":"imported"}';
    const hash = createHash("sha256").update(body).digest("hex");
    const rawBody = `{"content_hash":"${hash}",${body.slice(1)}`;
    const answer = await api.call("POST", `${job.path}/chunks`, {
      rawBody,
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, answer.json.error]).toEqual([200, undefined]);
  });

  test("keep values that are not finite, and count unknown ones and references without a run", async () => {
    const { api } = await stack().organization();
    const job = await createImport(api);
    const values = ["NaN", null, "Infinity", 1].map((value) => ({ ...point, value }));
    const refs = [{ name: "owned.bin" }, { name: "lost.bin" }];
    const runs = [
      { ...run, artifacts: ["owned.bin"] },
      { ...run, source_run_id: "b" },
    ];
    const { json } = await job.put({ runs, metric_points: values, artifact_refs: refs }, { final: true });
    expect(json.job).toMatchObject({
      summary: { metrics: 3, artifacts: 1, warnings: 2 },
      warnings: [
        { code: "non_finite_value", message: "1 skipped" },
        { code: "artifact_without_run", message: "1 skipped" },
      ],
    });
  });

  test("give references of one name to the runs that have it, one after another", async () => {
    const { api } = await stack().organization();
    const of = (id: string, ...artifacts: unknown[]) => ({ ...run, source_run_id: id, name: id, artifacts });
    const runs = [of("a", "x.bin", "only.bin"), of("b", { name: "x.bin" }, { path: "x.bin" }), of("c", "x.bin")];
    const names = ["x.bin", "only.bin", "x.bin", "x.bin", "only.bin", "x.bin", "x.bin"];
    const refs = names.map((name, i) => ({ name, size_bytes: i }));
    const { json } = await importChunk(api, { runs, artifact_refs: refs });
    expect(json.job.warnings).toEqual([{ code: "artifact_without_run", message: "1 skipped" }]);
    const sizes: Record<string, number[]> = {};
    for (const { id, name } of await runsOf(api)) {
      const { artifacts } = (await api.get(`/api/runs/${id}/artifacts`)).json;
      sizes[name] = artifacts.map(({ size_bytes }: { size_bytes: number }) => size_bytes).toSorted();
    }
    expect(sizes).toEqual({ a: [0, 1, 4], b: [2, 3], c: [5] });
  });

  test("give a reference without a run to the only run of its chunk", async () => {
    const { api } = await stack().organization();
    const answer = await importChunk(api, { runs: [run], artifact_refs: [{ name: "x/../y" }, { name: "x/../y" }] });
    expect(answer.json.summary).toMatchObject({ artifacts: 2, warnings: 0 });
  });

  describe("refuse", () => {
    const cases: [string, object, string][] = [
      ["another schema version", { schema_version: 1 }, "schema_version"],
      ["another job", { job_id: 99 }, "job_id"],
      ["another source type", { source_type: "mlflow" }, "source_type"],
      ["another source project", { source_project: "x" }, "source_project"],
      ["another target project", { target_project: "x" }, "target_project"],
      ["no chunk_id", { chunk_id: "" }, "chunk_id"],
      ["a negative sequence", { sequence: -1 }, "sequence"],
      ["final that is not a boolean", { final: "yes" }, "final"],
      ["runs that are not a list", { runs: {} }, "runs"],
      ["a run without an id", { runs: [{ name: "x" }] }, "runs"],
      ["a point without a number", { metric_points: [{ ...point, value: "high" }] }, "metric_points"],
      ["a negative step", { metric_points: [{ ...point, step: -1 }] }, "metric_points"],
      ["a time that is none", { metric_points: [{ ...point, timestamp: "yesterday" }] }, "metric_points"],
      ["a key that is too long", { metric_points: [{ ...point, key: "k".repeat(513) }] }, "metric_points"],
      [
        "an attribute of an unknown type",
        { attributes: [{ source_run_id: "a", path: "p", type: "x", value: 1 }] },
        "attributes",
      ],
      ["an artifact without a name", { artifact_refs: [{ source_run_id: "a" }] }, "artifact_refs"],
      ["too many points", { metric_points: Array.from({ length: 50_001 }, () => point) }, "metric_points"],
      ["too many warnings", { warnings: Array.from({ length: 201 }, () => ({})) }, "warnings"],
    ];
    test.each(cases)("%s: 400, and nothing is stored", async (_name, more, field) => {
      const { api } = await stack().organization();
      const job = await createImport(api);
      const answer = await job.put({ runs: [run] }, more);
      expect([answer.status, answer.json.field]).toEqual([400, field]);
      expect((await api.get(job.path)).json.job).toMatchObject({ status: "created", accepted_chunk_count: 0 });
    });

    test("a text of more than 8,192 characters, counted as code points", async () => {
      const { api } = await stack().organization();
      const job = await createImport(api);
      const config = (text: string) => ({ runs: [{ ...run, config: { text } }] });
      expect(await job.put(config("x".repeat(8193)))).toMatchObject({ status: 400 });
      expect(await job.put(config("🌊".repeat(8193)))).toMatchObject({ status: 400 });
      expect(await job.put(config("🌊".repeat(8192)))).toMatchObject({ status: 200 });
    });

    test("a final chunk whose job names a run that no chunk has", async () => {
      const { api } = await stack().organization();
      const job = await createImport(api);
      expect(await job.put({ metric_points: [{ ...point, source_run_id: "later" }] })).toMatchObject({ status: 200 });
      expect(await job.put({ runs: [run] }, { final: true })).toMatchObject({ status: 400 });
      expect((await api.get(job.path)).json.job).toMatchObject({ status: "uploading", accepted_chunk_count: 1 });
      const late = await job.put({ runs: [{ ...run, source_run_id: "later" }] }, { final: true });
      expect(late).toMatchObject({ status: 200, json: { job: { status: "dry_run_ready" } } });
      expect((await job.commit()).json.summary).toMatchObject({ runs: 1, metrics: 1 });
    });

    test("a body above 16 MiB, one that is not an object, and one that is not JSON", async () => {
      const { api } = await stack().organization();
      const { path } = await createImport(api);
      const send = (rawBody: string | Uint8Array, headers: Record<string, string> = {}) =>
        api.call("POST", `${path}/chunks`, { rawBody, headers: { "content-type": "application/json", ...headers } });
      const large = `{"pad":"${"x".repeat(16 * 1024 * 1024)}"}`;
      expect((await send(large)).status).toBe(413);
      expect((await send(gzipSync(large), { "content-encoding": "gzip" })).status).toBe(413);
      expect((await send("[]")).status).toBe(400);
      expect((await send("{")).status).toBe(400);
      expect((await send("")).status).toBe(400);
    });

    test("a job without a source type or a target, or of another schema version", async () => {
      const { api } = await stack().organization();
      for (const body of [
        { target_project: "p" },
        { source_type: "wandb" },
        { source_type: "wandb", target_project: "p", schema_version: 1 },
        { source_type: "wandb", target_project: "p", source_project: "x".repeat(8193) },
      ]) {
        expect((await api.post("/api/imports/jobs", body)).status).toBe(400);
      }
      const { job } = (await api.post("/api/imports/jobs", { source_type: "wandb", project: "p", schema_version: 2 }))
        .json;
      expect(job).toMatchObject({ target_project: "p", source_project: null });
    });
  });

  test("are cancelled unless they are committed", async () => {
    const { api } = await stack().organization();
    const job = await createImport(api);
    await job.put({ runs: [run] }, { final: true });
    const cancelled = await api.post(`${job.path}/cancel`);
    expect(cancelled).toMatchObject({ status: 200, json: { job: { status: "cancelled" } } });
    expect((await api.post(`${job.path}/cancel`)).status).toBe(409);
    expect((await job.commit()).status).toBe(409);
    const other = await createImport(api);
    expect((await other.commit()).status).toBe(409);
    await other.put({ runs: [run] }, { final: true });
    await other.commit();
    expect((await api.post(`${other.path}/cancel`)).status).toBe(409);
    expect((await runsOf(api)).length).toBe(1);
  });

  test("of a commit and a cancel that are sent simultaneously one wins", async () => {
    const { api } = await stack().organization();
    for (let round = 0; round < 8; round++) {
      const job = await createImport(api, { project: `p${round}` });
      await job.put({ runs: [run], metric_points: [point] }, { final: true });
      const [commit, cancel] = await Promise.all([job.commit(), api.post(`${job.path}/cancel`)]);
      expect([commit.status, cancel.status].toSorted((a, b) => a - b)).toEqual([200, 409]);
      const expected = commit.status === 200 ? ["committed", 1] : ["cancelled", 0];
      expect([(await api.get(job.path)).json.job.status, (await runsOf(api, `p${round}`)).length]).toEqual(expected);
    }
  });

  test("are 404 for an id that is none, another organization's and another project's", async () => {
    const [first, second] = [await stack().organization(), await stack().organization()];
    const job = await createImport(first.api);
    const ask = [
      ["GET", ""],
      ["POST", "/commit"],
      ["POST", "/cancel"],
      ["POST", "/chunks"],
    ] as const;
    for (const [method, end] of ask) {
      for (const id of [job.id, 99, 0, "x", "1.0", "99999999999"]) {
        const answer = await second.api.call(
          method,
          `/api/imports/jobs/${id}${end}`,
          method === "GET" ? {} : { body: {} },
        );
        expect([end, id, answer.status]).toEqual([end, id, 404]);
      }
    }
    expect((await second.api.get("/api/imports")).json).toEqual({ imports: [] });
    expect((await first.api.get("/api/imports")).json.imports).toMatchObject([{ id: 1, status: "created" }]);
  });

  test("of a project-scoped key go into its project only", async () => {
    const { api, orgId } = await stack().organization();
    const operator = { key: null, headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    const { id } = (await api.post("/projects", { name: "mine" })).json.project;
    const wish = { name: "scoped", scopes: ["imports:write"], project_id: id };
    const scoped = api.as((await api.post(`/api/orgs/${orgId}/api-keys`, wish, operator)).json.api_key);
    const other = await scoped.post("/api/imports/jobs", { source_type: "wandb", target_project: "other" });
    expect(other.status).toBe(403);
    const committed = await importChunk(scoped, { runs: [run], metric_points: [point] }, { project: "mine" });
    expect(committed).toMatchObject({ status: 200, json: { job: { project_id: id } } });
    await createImport(api);
    expect((await api.get("/api/imports")).json.imports).toHaveLength(2);
    expect((await scoped.get("/api/imports")).json.imports).toHaveLength(1);
    expect((await scoped.get("/api/imports/jobs/2")).status).toBe(404);
    for (const source of ["wandb", "neptune", "mlflow"]) {
      const answer = await scoped.post(`/api/imports/${source}?dry_run=true`, { project: "other", runs: [] });
      expect([source, answer.status]).toEqual([source, 403]);
    }
  });

  test("of a session name their user", async () => {
    const { owner } = await createTeam(stack());
    const { job } = (await owner.browser.post("/api/imports/jobs", { source_type: "wandb", target_project: "p" })).json;
    expect(job.created_by_user_id).toBe(owner.userId);
  });

  test("answer before their end with Prefer: respond-async, and the commit continues", async () => {
    const { api } = await stack().organization();
    const job = await createImport(api);
    await job.put({ runs: [run], metric_points: [point] }, { final: true });
    const answer = await api.post(`${job.path}/commit`, {}, { headers: { prefer: "wait=1, respond-async" } });
    expect(answer.status).toBe(200);
    expect(["committing", "committed"]).toContain(answer.json.job.status);
  });

  test("of an organization are committed one after another, however many are requested together", async () => {
    const { api } = await stack().organization();
    const points = Array.from({ length: 20_000 }, (_, i) => ({ ...point, step: i }));
    const jobs = [await createImport(api), await createImport(api), await createImport(api, { project: "q" })];
    for (const job of jobs) await job.put({ runs: [run], metric_points: points }, { final: true });
    const answers = await Promise.all([...jobs, ...jobs].map((job) => job.commit()));
    expect(answers.map(({ status, json }) => [status, json.job.status])).toEqual(answers.map(() => [200, "committed"]));
    const summaries = answers.map(({ json: { summary } }) => [summary.runs, summary.metrics, summary.skipped_runs]);
    // The same source run in one project is stored by the first of its jobs only.
    const inOneProject = summaries.slice(0, 2).toSorted(([a], [b]) => b - a);
    expect([...inOneProject, summaries[2]]).toEqual([
      [1, 20_000, 0],
      [0, 0, 1],
      [1, 20_000, 0],
    ]);
    expect(summaries.slice(3)).toEqual(summaries.slice(0, 3));
    for (const project of ["imported", "q"]) expect(await runsOf(api, project)).toHaveLength(1);
  });
});
