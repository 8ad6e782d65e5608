import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { queryDatabase } from "../stack/attach.ts";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { asOperator, createTeam } from "../stack/people.ts";
import { contentOf, writeEverything, writeVersion } from "./archive.fixture.ts";

const COPY = "/api/runs/copy";

type Copy = { readonly run_id: string; readonly copy_id: string; readonly state: string };

const copiesOf = ({ json }: Answer): Copy[] => (json.results as { copies: Copy[] }[]).flatMap(({ copies }) => copies);

describeModes("copies of runs", (stack) => {
  const projectId = async (api: Api, name: string): Promise<string> =>
    (await api.get(`/projects?name=${name}`)).json.projects[0].id as string;

  /** The content of a project, with the ids of another run in the place of those of its run. */
  const contentAs = async (api: Api, project: string, ids: ReadonlyMap<string, string>) => {
    const { text } = await api.get(`/api/export?format=ndjson&project=${project}`);
    const { rows, columns } = contentOf([...ids].reduce((all, [id, other]) => all.replaceAll(id, other), text));
    return { rows, columns };
  };

  /** What counters say of an organization, and what its rows say. */
  const counted = async (orgId: string) => {
    const [row] = await queryDatabase<{ counted: unknown; stored: unknown }>(
      stack(),
      `SELECT (SELECT json_object_agg(kind, bytes ORDER BY kind) FROM (
                 SELECT s.kind, sum(s.bytes) AS bytes FROM platform.stored_bytes s WHERE s.org_id = $1 GROUP BY s.kind) k) AS counted,
              (SELECT json_object_agg(kind, bytes ORDER BY kind) FROM (
                 SELECT kind, sum(amount) AS bytes FROM (
                   SELECT * FROM ingest.stored_rows_v1 UNION ALL SELECT * FROM runs.stored_rows_v1 UNION ALL SELECT * FROM traces.stored_rows_v1
                 ) a WHERE a.org_id = $1 AND kind NOT IN ('series', 'values') GROUP BY kind) k) AS stored`,
      [orgId],
    );
    const [points] = await queryDatabase<Record<string, unknown>>(
      stack(),
      `SELECT (SELECT sum(points) FROM ingest.project_points WHERE org_id = $1)::int AS points,
              (SELECT sum(point_count) FROM ingest.metric_runs WHERE org_id = $1)::int AS "storedPoints",
              (SELECT sum(series) FROM ingest.project_points WHERE org_id = $1)::int AS series,
              (SELECT sum(key_count) FROM ingest.metric_runs WHERE org_id = $1)::int AS "storedSeries",
              (SELECT sum(points) FROM ingest.rank_points WHERE org_id = $1)::int AS ranks,
              (SELECT count(*) FROM (SELECT generate_series(1, octet_length(packed) / 8) FROM ingest.rank_metric_rows WHERE org_id = $1) r)::int AS "storedRanks",
              (SELECT sum(artifacts) FROM artifacts.storage WHERE org_id = $1)::int AS artifacts,
              (SELECT count(*) FROM artifacts.artifacts WHERE org_id = $1)::int AS "storedArtifacts",
              (SELECT sum(artifact_bytes) FROM artifacts.storage WHERE org_id = $1)::int AS bytes,
              (SELECT sum(size_bytes) FROM artifacts.artifacts WHERE org_id = $1 AND object_id IS NOT NULL)::int AS "storedBytes",
              (SELECT sum(refs) FROM artifacts.objects WHERE org_id = $1)::int AS refs,
              ((SELECT count(*) FROM artifacts.artifacts WHERE org_id = $1 AND object_id IS NOT NULL)
                + (SELECT count(*) FROM artifacts.entries WHERE org_id = $1 AND object_id IS NOT NULL))::int AS "storedRefs",
              (SELECT sum(runs_running + runs_finished + runs_failed) FROM runs.projects WHERE org_id = $1)::int AS runs,
              (SELECT count(*) FROM runs.runs WHERE org_id = $1)::int AS "storedRuns"`,
      [orgId],
    );
    return { ...row!, ...points! };
  };

  const expectNoDrift = async (orgId: string): Promise<void> => {
    const found = await counted(orgId);
    expect(found.counted).toEqual(found.stored);
    for (const name of ["points", "series", "ranks", "artifacts", "bytes", "refs", "runs"]) {
      const stored = `stored${name[0]!.toUpperCase()}${name.slice(1)}`;
      expect([name, found[name as keyof typeof found]]).toEqual([name, found[stored as keyof typeof found]]);
    }
  };

  test("have everything that was logged, share bytes, and count like what was written", async () => {
    const { api, orgId } = await stack().organization();
    const { runId, artifactId, traceId } = await writeEverything(api, "from");
    const version = await writeVersion(api, runId, "weights");
    const rawBody = '{"step": 50, "metrics": {"loss": NaN, "only/nan": -Infinity}}';
    const numbers = await api.post(`/runs/${runId}/metrics`, undefined, { rawBody });
    const readme = await api.call("PUT", `/api/runs/${runId}/readme`, { body: { markdown: "# é" } });
    const finished = await api.patch(`/runs/${runId}`, { status: "failed" });
    expect([numbers.status, readme.status, finished.status]).toEqual([200, 200, 200]);
    const usage = async () => (await api.get("/api/usage")).json.organizations[0].usage;
    const [before, requested] = [await usage(), await api.post(COPY, { run_ids: [runId], project: "to" })];
    const [{ copy_id: id }] = copiesOf(requested) as [Copy];
    expect([requested.status, requested.json]).toEqual([
      200,
      {
        matched: 1,
        updated: 1,
        failed: 0,
        copying: 0,
        results: [{ run_ids: [runId], ok: true, copies: [{ run_id: runId, copy_id: id, state: "copied" }] }],
      },
    ]);
    const { run } = (await api.get(`/runs/${id}`)).json;
    expect(run).toMatchObject({ project: "to", status: "failed", notes: "n", tags: ["a", "b"] });
    expect(run.metadata.copied_from).toEqual({ run_id: runId, at: expect.any(String) });
    const { artifacts } = (await api.get(`/api/runs/${id}/artifacts`)).json;
    const copied = artifacts.find(({ name }: { name: string }) => name === "a.png");
    const others = (await api.get(`/api/runs/${runId}/artifacts`)).json.artifacts;
    const far = (list: { id: string; name: string }[]): string => list.find(({ name }) => name === "far")!.id;
    const ids = new Map([
      [id, runId],
      [copied.id, artifactId],
      [far(artifacts), far(others)],
      [await projectId(api, "to"), await projectId(api, "from")],
    ]);
    const [source, copy] = [await contentAs(api, "from", new Map()), await contentAs(api, "to", ids)];
    expect(copy.columns).toEqual(source.columns);
    const plain = (rows: readonly unknown[]) =>
      rows
        .map((row) => row as Record<string, unknown>)
        // Versions stay in the project of the source.
        .filter(({ line }) => !/^(project|export|end|collection|version)/.test(line as string))
        .map((row) => (row["line"] === "run" ? { ...row, metadata: "", project: "", summary: "" } : row));
    expect(plain(copy.rows)).toEqual(plain(source.rows));
    expect(copy.rows.length).toBeGreaterThan(10);
    const aggregates = async (of: string) => (await api.get(`/api/runs/${of}/summary`)).json;
    expect(await aggregates(id)).toEqual(await aggregates(runId));
    const content = await api.get(`/api/artifacts/${copied.id}/download`);
    expect(content.text).toBe("png");
    const lineage = (await api.get(`/api/artifact-versions/${version.id}/lineage`)).json;
    expect(JSON.stringify(lineage)).toContain(id);
    expect((await api.get(`/api/runs/${id}/traces/${traceId}`)).status).toBe(200);
    await expectNoDrift(orgId);
    const after = await usage();
    expect(after.metric_points - before.metric_points).toBe(before.metric_points);
    expect([after.runs, after.projects]).toEqual([before.runs + 1, before.projects + 1]);
    // The bytes stay for the copy when the artifact of the source has gone.
    expect((await api.call("DELETE", `/api/artifacts/${artifactId}`)).status).toBe(200);
    expect((await api.get(`/api/artifacts/${copied.id}/download`)).text).toBe("png");
    await expectNoDrift(orgId);
  });

  test("take new points like other runs, are found and sorted, and are copied in the project they are in", async () => {
    const { api, orgId } = await stack().organization();
    const { runId } = await writeEverything(api, "p");
    const body = { filter: { project: "p" }, project: "p" };
    const headers = { "idempotency-key": randomUUID() };
    const first = await api.post(COPY, body, { headers });
    const [{ copy_id: id }] = copiesOf(first) as [Copy];
    const again = await api.post(COPY, body, { headers });
    expect([first.json.matched, again.json, again.headers["idempotency-replayed"]]).toEqual([1, first.json, "true"]);
    expect((await api.post(COPY, { ...body, project: "q" }, { headers })).status).toBe(409);
    expect((await api.post(`/runs/${id}/metrics`, { step: 90, metrics: { loss: -5, fresh: 1 } })).status).toBe(200);
    const list = async (query: string): Promise<string[]> =>
      (await api.get(`/runs?${query}`)).json.runs.map((run: { id: string }) => run.id);
    expect(await list("project=p&sort_by=metric-best&metric_key=loss")).toEqual([id, runId]);
    expect((await list("project=p&sort_by=metric-best&metric_key=eval/acc")).toSorted()).toEqual(
      [id, runId].toSorted(),
    );
    expect(await list(`project=p&q=${encodeURIComponent("r é")}`)).toHaveLength(2);
    const table = await api.get("/api/runs/summary?columns=attributes.config/lr&sort_by=config.lr");
    const values = table.json.runs.map((run: { columns: Record<string, unknown> }) => run.columns);
    expect(values).toEqual([{ "attributes.config/lr": 0.1 }, { "attributes.config/lr": 0.1 }]);
    const keys = (await api.get(`/api/projects/${await projectId(api, "p")}/keys?kind=metric`)).json.keys;
    expect(keys).toContainEqual({ name: "eval/acc", kind: "metric", run_count: 2 });
    await expectNoDrift(orgId);
  });

  test("are made for those who may, of runs of their organization", async () => {
    const team = await createTeam(stack());
    const { browser } = team.owner;
    const { json } = await stack().api.post(`/api/orgs/${team.orgId}/api-keys`, {}, asOperator(stack()));
    const api = stack().api.as(json.api_key as string);
    const id = (await api.post("/runs", { project: "p" })).json.run.id as string;
    const other = await stack().organization();
    const foreign = await other.api.post(COPY, { run_ids: [id], project: "p" });
    expect([foreign.status, foreign.json.results]).toEqual([
      200,
      [{ run_ids: [id], ok: false, error: "not_found_or_unauthorized", copies: [] }],
    ]);
    expect((await other.api.get("/projects")).json.projects).toEqual([]);
    const dry = await api.post(COPY, { run_ids: [id], project: "q", dry_run: true });
    expect([dry.status, dry.json]).toEqual([
      200,
      { matched: 1, updated: 0, failed: 0, copying: 0, results: [{ run_ids: [id], ok: true, copies: [] }] },
    ]);
    expect((await api.get("/projects?name=q")).json.projects).toEqual([]);
    const scopes = ["sdk:ingest"];
    const body = { name: "k", scopes, project_id: await projectId(api, "p") };
    const scoped = await stack().api.post(`/api/orgs/${team.orgId}/api-keys`, body, asOperator(stack()));
    const statuses = await Promise.all([
      stack()
        .api.as(scoped.json.api_key as string)
        .post(COPY, { run_ids: [id], project: "p" }),
      (await team.join("viewer")).browser.post(COPY, { run_ids: [id], project: "p" }),
      stack().api.post(COPY, { run_ids: [id], project: "p" }),
      api.post(COPY, { run_ids: [id], project: " ALL" }),
      api.post(COPY, { run_ids: [id] }),
      api.post(COPY, { run_ids: [id], filter: {}, project: "p" }),
      api.post(COPY, { run_ids: [], project: "p" }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 401, 400, 400, 400, 400]);
    const made = await browser.post(COPY, { run_ids: [id], project: "q" });
    expect(copiesOf(made)).toMatchObject([{ run_id: id, state: "copied" }]);
    expect((await api.post("/api/runs/move", { run_ids: [id], project: "q" })).status).toBe(200);
    const { events } = (await browser.get(`/api/orgs/${team.orgId}/audit`)).json;
    const details = { runs: 1, from_project_id: body.project_id };
    const target = { type: "project", id: await projectId(api, "q") };
    expect(events.slice(0, 2)).toMatchObject([
      { action: "run.moved", target, details, actor: { type: "api_key" } },
      { action: "run.copied", target, details, actor: { type: "user" }, request_id: made.headers["x-request-id"] },
    ]);
    await until("the copy to be announced", async () => (await api.get("/projects?name=q")).json.projects.length === 1);
  });
});
