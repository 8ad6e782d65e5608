import { randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { request } from "undici";
import { describeModes } from "../stack/modes.ts";
import { asOperator, createTeam, signIn } from "../stack/people.ts";
import { CONFIG, linesOf, ofKind, writeEverything, writeVersion } from "./archive.fixture.ts";

const EXPORT = "/api/export?format=ndjson";
const US = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

describeModes("complete exports", (stack) => {
  const keyOf = async (orgId: string, wish: object) => {
    const made = await stack().api.post(`/api/orgs/${orgId}/api-keys`, { name: "k", ...wish }, asOperator(stack()));
    return stack().api.as(made.json.api_key as string);
  };

  test("hold everything of a project, in the order in which it can be restored", async () => {
    const { api, orgId } = await stack().organization();
    const { runId, artifactId, traceId } = await writeEverything(api, "demo");
    const version = await writeVersion(api, runId, "weights");
    const fork = (await api.post(`/api/runs/${runId}/forks`, { step: 1, name: "child" })).json.run;
    await api.post(`/api/runs/${fork.id}/stop`, { reason: "enough" });
    const project = (await api.get(`/runs/${runId}`)).json.run.project_id as string;
    const report = (await api.post("/api/reports", { title: "Weekly", project_id: project, blocks: [] })).json.report;

    const answer = await api.get(`${EXPORT}&project=demo`);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "application/x-ndjson",
      "content-disposition": 'attachment; filename="tidemark-export.ndjson"',
      "cache-control": "private, no-store",
      "x-content-type-options": "nosniff",
    });
    const lines = linesOf(answer);
    expect(lines[0]).toMatchObject({
      line: "export",
      version: 1,
      product: "tidemark",
      org_id: orgId,
      selection: { project_id: project },
    });
    const order = lines.map(({ line }) => line).filter((line, i, all) => line !== all[i - 1]);
    expect(order).toEqual([
      "export",
      "project",
      "run",
      "artifact",
      "points",
      "rank_points",
      "lines",
      "attribute",
      "object",
      "object.rows",
      "object",
      "trace",
      "trace.spans",
      "collection",
      "version",
      "version.entries",
      "version.edges",
      "report",
      "end",
    ]);
    expect(lines.at(-1)).toEqual({
      line: "end",
      counts: {
        project: 1,
        run: 2,
        points: 55,
        rank_points: 2,
        lines: 2,
        attribute: 3,
        object: 2,
        artifact: 2,
        collection: 1,
        version: 1,
        trace: 1,
        report: 1,
        view: 0,
      },
    });

    const [run, child] = ofKind(lines, "run");
    expect(run).toMatchObject({
      id: runId,
      project_id: project,
      name: "r é",
      config: CONFIG,
      tags: ["a", "b"],
      status: "running",
    });
    expect(run!.created_at).toMatch(US);
    expect(child).toMatchObject({
      id: fork.id,
      parent_run_id: runId,
      forked_from_step: 1,
      stop: { state: "requested", reason: "enough", actor: "api_key" },
    });

    const points = ofKind(lines, "points").filter(({ key }) => key === "loss");
    const all = (column: "step" | "value") => points.flatMap(({ columns }) => [...columns[column]]);
    expect(all("step")).toEqual([...Array.from({ length: 40 }, (_, i) => i / 2), 0]);
    expect(all("value")).toEqual([...Array.from({ length: 40 }, (_, i) => Math.sqrt(i)), 1e308]);
    const [first] = points;
    expect(first!.columns.timestamp![0]).toBe(Date.parse("2026-11-20T10:00:00Z") * 1000 + 1);
    expect(first!.columns.timestamp![1]).toBeNaN();
    const sparse = ofKind(lines, "points").find(({ key }) => key === "eval/acc")!;
    expect([...sparse.columns.step]).toEqual(Array.from({ length: 14 }, (_, i) => (3 * i) / 2));
    expect([...sparse.columns.value]).toEqual(Array.from({ length: 14 }, (_, i) => 3 * i));

    const [ranks] = ofKind(lines, "rank_points");
    expect(ranks!.columns).toMatchObject({
      value: Float64Array.of(0.5, 1.5),
      rank: Float64Array.of(0, 1),
      world_size: Float64Array.of(2, 2),
      local_rank: Float64Array.of(0, 0),
      weight: Float64Array.of(1, 2),
    });
    const [console] = ofKind(lines, "lines");
    expect(console).toMatchObject({ stream: "stderr", columns: { message: ["first", "second\u001b[0m"] } });

    const stored = ofKind(lines, "artifact").find(({ id }) => id === artifactId)!;
    expect(stored).toMatchObject({ size_bytes: 3, uri: undefined, metadata: '{"a":1}', sha256: expect.any(String) });
    expect(ofKind(lines, "artifact").find(({ name }) => name === "far")).toMatchObject({ uri: "s3://bucket/far" });
    expect(ofKind(lines, "attribute").find(({ path }) => path === "file")).toMatchObject({ artifact_id: artifactId });

    const table = ofKind(lines, "object").find(({ key }) => key === "table")!;
    const rows = ofKind(lines, "object.rows").filter(({ id }) => id === table.id);
    expect(rows.map((part) => part.rows.length)).toEqual([100, 50]);
    expect(rows[0]!.rows.slice(0, 2)).toEqual(['{"b":0,"a":"x"}', '{"a":[1],"c":null}']);

    expect(ofKind(lines, "trace")).toMatchObject([{ run_id: runId, trace_id: traceId }]);
    const spans = ofKind(lines, "trace.spans").flatMap((part) => part.spans);
    expect(spans.map(({ span_id, sequence }) => [span_id.at(-1), sequence])).toEqual([
      ["1", 1],
      ["2", 1],
      ["1", 2],
    ]);

    expect(ofKind(lines, "version")).toMatchObject([
      { id: version.id, version_index: 0, aliases: ["best"], state: "active" },
    ]);
    expect(ofKind(lines, "version.entries")[0]!.entries).toMatchObject([{ path: "w.bin", size_bytes: 7 }]);
    expect(ofKind(lines, "version.edges")[0]!.edges).toMatchObject([{ run_id: runId, direction: "output" }]);
    expect(ofKind(lines, "report")).toMatchObject([{ id: report.id, title: "Weekly", blocks: "[]" }]);
  });

  test("of named runs hold these and the versions that they made or used, and nothing of others", async () => {
    const { api } = await stack().organization();
    const { runId } = await writeEverything(api, "demo");
    const version = await writeVersion(api, runId, "a");
    const user = (await api.post("/runs", { project: "demo", name: "user" })).json.run;
    await api.post(`/api/runs/${user.id}/artifact-inputs`, { artifact_version_id: version.id });
    const other = (await api.post("/runs", { project: "elsewhere", name: "other" })).json.run;
    await writeVersion(api, other.id, "b");

    const lines = linesOf(await api.get(`${EXPORT}&runs=${other.id},${user.id},${user.id}`));
    expect(lines[0]).toMatchObject({ selection: { run_ids: [other.id, user.id] } });
    expect(
      ofKind(lines, "project")
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["demo", "elsewhere"]);
    expect(ofKind(lines, "run").map(({ id }) => id)).toEqual([user.id, other.id]);
    expect(new Set(ofKind(lines, "version").map(({ source_run_id }) => source_run_id))).toEqual(
      new Set([runId, other.id]),
    );
    const edges = ofKind(lines, "version.edges").flatMap((part) => part.edges);
    expect(edges.map(({ run_id, direction }) => [run_id, direction])).toEqual(
      expect.arrayContaining([
        [user.id, "input"],
        [other.id, "output"],
      ]),
    );
    expect(edges).toHaveLength(2);
    expect(ofKind(lines, "report")).toEqual([]);
  });

  test("of a session hold the views of its user, those of a key none", async () => {
    const { browser } = await signIn(stack());
    await browser.post("/runs", { project: "demo", name: "r" });
    const payload = { sections: [] };
    const view = (await browser.post("/api/workspace-views", { name: "Daily", project: "demo", payload })).json
      .workspace_view;
    const lines = linesOf(await browser.get(`${EXPORT}&project=demo`));
    expect(ofKind(lines, "view")).toEqual([
      {
        line: "view",
        id: view.id,
        name: "Daily",
        project: "demo",
        payload: '{"sections":[]}',
        created_at: expect.stringMatching(US),
        updated_at: expect.stringMatching(US),
      },
    ]);
  });

  test("say of views that they are shared, and hold none of other users", async () => {
    const team = await createTeam(stack());
    const { browser } = team.owner;
    await browser.post("/runs", { project: "demo", name: "r" });
    for (const visibility of ["organization", "private"])
      await browser.post("/api/workspace-views", { name: visibility, visibility });
    const own = ofKind(linesOf(await browser.get(`${EXPORT}&project=demo`)), "view");
    expect(own.map(({ name, visibility }) => [name, visibility])).toEqual([
      ["private", undefined],
      ["organization", "organization"],
    ]);
    const member = await team.join("member");
    expect(ofKind(linesOf(await member.browser.get(`${EXPORT}&project=demo`)), "view")).toEqual([]);
  });

  test("of an empty project have their beginning and their end", async () => {
    const { api } = await stack().organization();
    await api.post("/projects", { name: "empty" });
    const lines = linesOf(await api.get(`${EXPORT}&project=empty`));
    expect(lines.map(({ line }) => line)).toEqual(["export", "project", "end"]);
  });

  test("are compressed for a client that asks for it", async () => {
    const { api, key } = await stack().organization();
    await writeEverything(api, "demo");
    const { headers, body } = await request(`${api.baseUrl}${EXPORT}&project=demo`, {
      headers: { authorization: `Bearer ${key}`, "accept-encoding": "gzip" },
    });
    expect(headers["content-encoding"]).toBe("gzip");
    const text = gunzipSync(Buffer.from(await body.arrayBuffer())).toString();
    expect(linesOf({ text }).at(-1)).toMatchObject({ line: "end" });
  });

  test.each([
    ["neither a project nor runs", "format=ndjson", 400, "project"],
    ["an id that is none", "format=ndjson&run_ids=x", 400, "run_ids"],
    [
      "too many runs",
      `format=ndjson&run_ids=${Array.from({ length: 101 }, () => randomUUID()).join(",")}`,
      400,
      "run_ids",
    ],
    ["a filter that would be ignored", "format=ndjson&project=demo&status=failed", 400, "status"],
    ["an order that would be ignored", "format=ndjson&project=demo&sort_by=name", 400, "sort_by"],
    ["a filter with Parquet", "format=parquet&project=demo&q=x", 400, "q"],
    ["Parquet without a project or runs", "format=parquet", 400, "project"],
    ["an unknown project as Parquet", "format=parquet&project=nowhere", 404, undefined],
    ["an unknown run as Parquet", `format=parquet&run_ids=${randomUUID()}`, 404, undefined],
    ["an unknown project", "format=ndjson&project=nowhere", 404, undefined],
    ["an unknown run", `format=ndjson&run_ids=${randomUUID()}`, 404, undefined],
  ])("of %s are refused before the first byte", async (_what, query, status, field) => {
    const { api } = await stack().organization();
    const answer = await api.get(`/api/export?${query}`);
    expect(answer.status).toBe(status);
    expect(answer.json.field).toBe(field);
    expect(answer.headers["content-type"]).toContain("application/json");
    expect((await api.call("HEAD", `/api/export?${query}`)).status).toBe(status);
  });

  test("have the headers of GET for HEAD, and no body", async () => {
    const { api } = await stack().organization();
    await api.post("/runs", { project: "demo", name: "r" });
    const [head, full] = [await api.call("HEAD", `${EXPORT}&project=demo`), await api.get(`${EXPORT}&project=demo`)];
    expect([head.status, head.text]).toEqual([200, ""]);
    for (const name of ["content-type", "content-disposition", "cache-control"]) {
      expect(head.headers[name]).toBe(full.headers[name]);
    }
  });

  test("show nothing of another organization, and nothing of another project to a key of a project", async () => {
    const { api, orgId } = await stack().organization();
    const stranger = (await stack().organization()).api;
    const { run } = (await api.post("/runs", { project: "demo", name: "r" })).json;
    const other = (await api.post("/runs", { project: "other", name: "r" })).json.run;
    for (const query of [`run_ids=${run.id}`, "project=demo"]) {
      const foreign = await stranger.get(`${EXPORT}&${query}`);
      expect(foreign.status).toBe(404);
      expect(foreign.text).not.toContain(run.id);
    }
    const scoped = await keyOf(orgId, { project_id: run.project_id });
    expect(ofKind(linesOf(await scoped.get(EXPORT)), "run").map(({ id }) => id)).toEqual([run.id]);
    expect((await scoped.get(`${EXPORT}&project=other`)).status).toBe(404);
    expect((await scoped.get(`${EXPORT}&run_ids=${run.id},${other.id}`)).status).toBe(404);
  });

  test("need the scope to read", async () => {
    const { api, orgId } = await stack().organization();
    expect((await api.as(null).get(`${EXPORT}&project=demo`)).status).toBe(401);
    const writer = await keyOf(orgId, { scopes: ["sdk:ingest"] });
    expect((await writer.get(`${EXPORT}&project=demo`)).status).toBe(403);
  });
});
