import { randomUUID } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { expect, test, describe } from "@jest/globals";
import { request } from "undici";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import { COLUMNS, readCsv } from "./export-csv.fixture.ts";

const UUID = /^[0-9a-f-]{36}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

describeModes("exports", (stack) => {
  const newRun = async (api: Api, body: object = {}): Promise<string> => (await api.post("/runs", body)).json.run.id;
  const exportOf = (api: Api, query = "") => api.get(`/api/export${query}`);
  const namesOf = async (api: Api, query: string): Promise<string[]> =>
    (await exportOf(api, query)).json.runs.map(({ name }: { name: string }) => name);

  /** A run with rows of every kind. */
  async function fullRun(api: Api) {
    const id = await newRun(api, { name: "full", project: "p", config: { seed: 12345678901234567890n.toString() } });
    const path = `/api/runs/${id}`;
    const at = "2026-03-01T10:00:00.123456Z";
    await api.post(`/runs/${id}/metrics`, { metrics: { loss: 0.5, é: -1 }, step: 1, timestamp: at });
    await api.post(`/runs/${id}/metrics`, { metrics: { loss: 0.25 }, step: 2.5 });
    const { attributes } = (await api.post(`${path}/attributes`, { path: "config/lr", type: "config", value: 0.1 }))
      .json;
    const bytes = { name: "a.png", content_base64: "aGk=", mime_type: "image/png" };
    const { artifact } = (await api.post(`${path}/artifacts/upload`, bytes)).json;
    const table = { key: "t", kind: "table", step: 3, rows: [{ q: "a", n: 1 }, { q: "b" }] };
    const { object } = (await api.post(`${path}/objects`, table)).json;
    const image = (await api.post(`${path}/objects`, { key: "i", kind: "image", artifact_id: artifact.id })).json
      .object;
    const { run } = (await api.get(`/runs/${id}`)).json;
    return { id, attribute: attributes[0], artifact, table: object, image, run };
  }

  describe("as JSON", () => {
    test("have all that belongs to their runs, as the routes of the API show it", async () => {
      const { api, orgId } = await stack().organization();
      const { id, attribute, artifact, table, image, run } = await fullRun(api);
      const answer = await exportOf(api);
      expect(answer.status).toBe(200);
      const body = answer.json;
      expect(Object.keys(body)).toEqual([
        "version",
        "exported_at",
        "generated_at",
        "organizations",
        "projects",
        "runs",
        "metric_series",
        "metrics",
        "attributes",
        "artifacts",
        "table_object_rows",
        "imports",
        "limits",
        "truncated",
      ]);
      expect(body).toMatchObject({ version: 1, truncated: false, imports: [], organizations: [{ id: orgId }] });
      expect([body.exported_at, body.generated_at]).toEqual([expect.stringMatching(TIME), body.exported_at]);
      expect(body.projects).toEqual((await api.get("/projects")).json.projects);
      // A plain run row: what a summary has beyond it is left out.
      expect(Object.keys(body.runs[0])).toEqual(Object.keys((await api.patch(`/runs/${id}`, { tags: [] })).json.run));
      expect(run).toMatchObject(body.runs[0]);
      const { loss } = run.metric_aggregates;
      expect(body.metric_series[0]).toEqual({ run_id: id, key: "loss", latest_step: 2.5, ...loss });
      expect(body.metric_series[1]).toMatchObject({ key: "é", count: 1, latest: -1, latest_step: 1 });
      const points = (await api.get(`/runs/${id}/metrics`)).json.metrics;
      expect(body.metrics).toEqual(points.map((point: object) => ({ org_id: orgId, run_id: id, ...point })));
      expect(body.attributes[0]).toEqual(attribute);
      expect(body.attributes.slice(1)).toMatchObject([
        { id: table.id, run_id: id, path: "t", type: "table", step: 3, value: table.value, summary: table.summary },
        { id: image.id, path: "i", type: "image", value: image.value, artifact_id: artifact.id, step: null },
      ]);
      expect(body.artifacts).toEqual([artifact]);
      expect(body.table_object_rows).toEqual(
        [{ q: "a", n: 1 }, { q: "b" }].map((row, row_index) => ({
          org_id: orgId,
          run_id: id,
          attribute_id: table.id,
          row_index,
          row,
          created_at: table.created_at,
        })),
      );
    });

    test("name their limits", async () => {
      const { api } = await stack().organization();
      expect((await exportOf(api)).json.limits).toEqual({
        runs: 500,
        selected_run_ids: 100,
        metrics: 100_000,
        metric_series: 25_000,
        attributes: 25_000,
        artifacts: 10_000,
        table_object_rows: 25_000,
        imports: 500,
        csv_bytes: 26_214_400,
      });
    });

    test("of an organization without runs are empty", async () => {
      const { api, orgId } = await stack().organization();
      const empty = { runs: [], projects: [], metric_series: [], metrics: [], attributes: [], artifacts: [] };
      const { json } = await exportOf(api);
      expect(json).toMatchObject({ ...empty, table_object_rows: [], organizations: [{ id: orgId }], truncated: false });
    });

    test("name the imports of their runs, newest first, with these runs alone", async () => {
      const { api } = await stack().organization();
      const importRuns = async (...ids: string[]) => {
        const answer = await api.post("/api/imports/wandb", {
          project: "old",
          runs: ids.map((id) => ({ id, name: id })),
        });
        return answer.json.import;
      };
      const [first, second] = [await importRuns("a", "b"), await importRuns("c")];
      await newRun(api);
      const { json } = await exportOf(api, `?run_ids=${second.run_ids[0]},${first.run_ids[1]}`);
      expect(json.imports).toEqual([second, { ...first, run_ids: [first.run_ids[1]] }]);
      expect((await exportOf(api)).json.imports.map(({ id }: { id: number }) => id)).toEqual([second.id, first.id]);
      const lines = readCsv((await exportOf(api, "?format=csv")).text).filter(([type]) => type === "import");
      expect(lines.map((line) => JSON.parse(line.at(-1)!).id)).toEqual([second.id, first.id]);
    });

    test("keep every digit of free-form documents", async () => {
      const { api } = await stack().organization();
      const id = (await api.call("POST", "/runs", { rawBody: '{"config":{"seed":12345678901234567890}}' })).json.run.id;
      const rawBody = '{"path":"a","type":"config","value":98765432109876543210}';
      await api.call("POST", `/api/runs/${id}/attributes`, { rawBody });
      const { text } = await exportOf(api);
      expect(text).toContain('"seed":12345678901234567890');
      expect(text).toContain('"value":98765432109876543210');
    });

    test("show no place in the object store", async () => {
      const { api, orgId } = await stack().organization();
      const { id, artifact } = await fullRun(api);
      const key = `o/${orgId}/${randomUUID()}`;
      const value = { url: `https://store.test/bucket/${key}?X-Amz-Signature=1`, n: 1 };
      const attribute = { path: "f", type: "file", value, artifact_id: artifact.id };
      await api.post(`/api/runs/${id}/attributes`, { attributes: [attribute] });
      const { text, json } = await exportOf(api);
      expect(text).not.toContain(key);
      const shown = json.attributes.find(({ path }: { path: string }) => path === "f");
      expect(shown.value).toEqual({ url: artifact.uri, n: 1 });
    });
  });

  describe("as CSV", () => {
    test("are one table with the rows of each kind in turn, which show their runs", async () => {
      const { api, orgId } = await stack().organization();
      const { id, attribute, artifact, table, run } = await fullRun(api);
      const { json } = await exportOf(api);
      const { status, text } = await exportOf(api, "?format=csv");
      expect(status).toBe(200);
      const [header, ...lines] = readCsv(text);
      expect(header).toEqual(COLUMNS);
      const rows = lines.map((cells) => Object.fromEntries(COLUMNS.map((column, i) => [column, cells[i]!])));
      const types = ["organization", "project", "run", "metric_series", "metric_series"];
      expect(rows.map((row) => row["record_type"])).toEqual([
        ...types,
        "metric",
        "metric",
        "metric",
        "attribute",
        "attribute",
        "attribute",
        "artifact",
        "table_object_row",
        "table_object_row",
      ]);
      const lists = ["organizations", "projects", "runs", "metric_series", "metrics", "attributes", "artifacts"];
      const expected = [...lists, "table_object_rows"].flatMap((list) => json[list]);
      expect(rows.map((row) => JSON.parse(row["json"]!))).toEqual(expected);
      const { project_id } = run;
      const ofRun = { org_id: orgId, project_id, run_id: id, run_name: "full", run_status: "running" };
      expect(rows[0]).toMatchObject({ org_id: orgId, project_id: "", run_id: "", value: "" });
      expect(rows[1]).toMatchObject({ org_id: orgId, project_id, run_id: "" });
      expect(rows[2]).toMatchObject({ ...ofRun, created_at: run.created_at });
      expect(rows[3]).toMatchObject({ ...ofRun, key: "loss", step: "", value: "0.25" });
      expect(rows[5]).toMatchObject({ ...ofRun, key: "loss", step: "1", value: "0.5", row_index: "" });
      expect(rows[6]).toMatchObject({ key: "loss", step: "2.5", value: "0.25" });
      expect(rows[7]).toMatchObject({ key: "é", value: "-1" });
      const logged = { logged_at: attribute.logged_at, created_at: attribute.created_at };
      const attributeCells = { attribute_id: String(attribute.id), path: "config/lr", value: "0.1" };
      expect(rows[8]).toMatchObject({ ...ofRun, ...attributeCells, ...logged, artifact_id: "" });
      expect(rows[10]).toMatchObject({ artifact_id: artifact.id, path: "i" });
      expect(rows[11]).toMatchObject({ ...ofRun, artifact_id: artifact.id, attribute_id: "" });
      expect(rows[13]).toMatchObject({ ...ofRun, attribute_id: String(table.id), row_index: "1" });
    });

    test("guard texts that look like formulas, and write numbers as numbers", async () => {
      const { api } = await stack().organization();
      const id = await newRun(api, { name: "=1+1", project: "p" });
      const values = [-1, "-1", "@x", "  =y", "\ta", "plain", { a: -1 }, null, true];
      const attributes = values.map((value, i) => ({ path: `+p${i}`, type: "config", value }));
      await api.post(`/api/runs/${id}/attributes`, { attributes });
      await api.post(`/runs/${id}/metrics`, { metrics: { "-m": -2 }, step: 1 });
      const lines = readCsv((await exportOf(api, "?format=csv")).text);
      const cell = (line: string[], column: string): string => line[COLUMNS.indexOf(column)]!;
      const ofType = (type: string) => lines.filter(([first]) => first === type);
      expect(ofType("attribute").map((line) => cell(line, "value"))).toEqual([
        "-1",
        "'-1",
        "'@x",
        "'  =y",
        "'\ta",
        "plain",
        '{"a":-1}',
        "",
        "true",
      ]);
      expect(cell(ofType("attribute")[0]!, "path")).toBe("'+p0");
      expect(lines.slice(3).every((line) => cell(line, "run_name") === "'=1+1")).toBe(true);
      const metric = ofType("metric")[0]!;
      expect([cell(metric, "key"), cell(metric, "value")]).toEqual(["'-m", "-2"]);
    });

    test("end each line with LF alone", async () => {
      const { api } = await stack().organization();
      await newRun(api);
      const { text } = await exportOf(api, "?format=csv");
      expect(text.endsWith("\n")).toBe(true);
      expect(text).not.toContain("\r");
    });
  });

  describe("headers", () => {
    test.each([
      ["json", "application/json; charset=utf-8"],
      ["csv", "text/csv; charset=utf-8"],
    ])("of %s make it a file that no cache keeps and no browser runs", async (format, type) => {
      const { api } = await stack().organization();
      await newRun(api);
      const { headers } = await exportOf(api, `?format=${format}`);
      expect(headers).toMatchObject({
        "content-type": type,
        "content-disposition": `attachment; filename="instantml-export.${format}"`,
        "cache-control": "private, no-store",
        pragma: "no-cache",
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox",
        "x-svc-export-truncated": "false",
        "x-instantml-export-truncated": "false",
        "x-request-id": expect.stringMatching(UUID),
      });
    });

    test("of HEAD are those of GET", async () => {
      const { api } = await stack().organization();
      await newRun(api);
      for (const format of ["json", "csv"]) {
        const head = await api.call("HEAD", `/api/export?format=${format}`);
        const get = await exportOf(api, `?format=${format}`);
        expect([head.status, head.text]).toEqual([200, ""]);
        for (const name of ["content-type", "content-disposition", "content-length", "x-svc-export-truncated"]) {
          expect(head.headers[name]).toBe(get.headers[name]);
        }
      }
    });

    test.each(["json", "csv"])("of %s that is wanted as gzip say so", async (format) => {
      const { api, key } = await stack().organization();
      await newRun(api, { name: "zipped" });
      const answer = await request(`${stack().baseUrl}/api/export?format=${format}`, {
        headers: { authorization: `Bearer ${key}`, "accept-encoding": "gzip" },
      });
      expect(answer.headers["content-encoding"]).toBe("gzip");
      expect(answer.headers["vary"]).toContain("Accept-Encoding");
      expect(gunzipSync(Buffer.from(await answer.body.arrayBuffer())).toString()).toContain("zipped");
    });
  });

  describe("a selection", () => {
    test("by run_ids keeps their order, and repeated ones count once", async () => {
      const { api } = await stack().organization();
      const [a, b, c] = [await newRun(api, { name: "a" }), await newRun(api, { name: "b" }), await newRun(api)];
      expect(await namesOf(api, `?run_ids=${b},${a},${b}`)).toEqual(["b", "a"]);
      expect(await namesOf(api, `?runs=${a.toUpperCase()}, ${b}`)).toEqual(["a", "b"]);
      expect(await namesOf(api, `?run_ids=${a}&runs=${c}`)).toEqual(["a"]);
    });

    test("by run_ids ignores every other filter, also a wrong one", async () => {
      const { api } = await stack().organization();
      const id = await newRun(api, { name: "a" });
      expect(await namesOf(api, `?run_ids=${id}&status=failed&project=x&sort_by=size&q=nothing`)).toEqual(["a"]);
    });

    test("by filters is that of the list of runs", async () => {
      const { api } = await stack().organization();
      for (const name of ["b", "a"]) await newRun(api, { name, project: "one", tags: ["x"] });
      const other = await newRun(api, { name: "c", project: "two" });
      await api.post(`/runs/${other}/metrics`, { metrics: { m: 1 }, step: 1 });
      await api.patch(`/runs/${other}`, { status: "failed" });
      expect(await namesOf(api, "?project=one&sort_by=name")).toEqual(["a", "b"]);
      expect(await namesOf(api, "?status=failed")).toEqual(["c"]);
      expect(await namesOf(api, "?q=tag:x&sort_by=name")).toEqual(["a", "b"]);
      expect((await namesOf(api, "?sort_by=metric-latest&metric_key=m"))[0]).toBe("c");
      expect(await namesOf(api, "?status=all&project=all&format=&sort_by=name")).toEqual(["a", "b", "c"]);
      const { json } = await exportOf(api, "?project=two");
      expect(json.projects.map(({ name }: { name: string }) => name)).toEqual(["two"]);
      expect(json.metric_series).toHaveLength(1);
    });
  });

  describe("400", () => {
    test.each([
      ["an unknown format", "?format=xml", "format"],
      ["an id that is none", "?run_ids=x", "run_ids"],
      ["the same under the other name", "?runs=1", "runs"],
      ["an unknown order", "?sort_by=size", "sort_by"],
      ["101 ids", `?run_ids=${Array.from({ length: 101 }, () => randomUUID()).join(",")}`, "run_ids"],
    ])("%s", async (_what, query, field) => {
      const { api } = await stack().organization();
      const answer = await exportOf(api, query);
      expect([answer.status, answer.json.field]).toEqual([400, field]);
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(answer.headers["content-disposition"]).toBeUndefined();
    });

    test("an invalid search", async () => {
      const { api } = await stack().organization();
      const answer = await exportOf(api, "?q=tag:re:/(/");
      expect([answer.status, answer.json.code]).toEqual([400, "run_search_invalid"]);
    });

    test("100 ids are allowed", async () => {
      const { api } = await stack().organization();
      const id = await newRun(api);
      const unknown = Array.from({ length: 99 }, () => randomUUID());
      expect((await exportOf(api, `?run_ids=${[id, ...unknown].join(",")}`)).status).toBe(404);
    });
  });

  test("401 without credentials, 403 without the scope", async () => {
    expect((await exportOf(stack().api)).status).toBe(401);
    const { api } = await stack().organization({ scopes: ["sdk:ingest"] });
    const answer = await exportOf(api);
    expect([answer.status, answer.json.error]).toEqual([403, "api key requires export:read"]);
  });

  describe("404", () => {
    test("an unknown run, and one of another organization, with the same body", async () => {
      const { api } = await stack().organization();
      const own = await newRun(api);
      const foreign = await newRun((await stack().organization()).api);
      const missing = await exportOf(api, `?run_ids=${own},${randomUUID()}`);
      expect([missing.status, missing.json]).toEqual([404, { error: "run not found" }]);
      for (const format of ["json", "csv"]) {
        const hidden = await exportOf(api, `?format=${format}&run_ids=${own},${foreign}`);
        expect([hidden.status, hidden.json]).toEqual([404, missing.json]);
      }
    });

    test("a run of another project, for a key of one; its list shows its own project alone", async () => {
      const { api, orgId } = await stack().organization();
      const own = await newRun(api, { project: "mine", name: "mine" });
      const other = await newRun(api, { project: "theirs", name: "theirs" });
      const { project_id } = (await api.get(`/runs/${own}`)).json.run;
      const made = await stack().api.post(
        `/api/orgs/${orgId}/api-keys`,
        { name: "scoped", scopes: ["export:read"], project_id },
        { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } },
      );
      const scoped = stack().api.as(made.json.api_key);
      expect((await exportOf(scoped, `?run_ids=${other}`)).status).toBe(404);
      expect((await exportOf(scoped, `?run_ids=${own}`)).status).toBe(200);
      const { json } = await exportOf(scoped);
      expect(json.runs.map(({ name }: { name: string }) => name)).toEqual(["mine"]);
      expect(json.projects.map(({ name }: { name: string }) => name)).toEqual(["mine"]);
    });
  });
});
