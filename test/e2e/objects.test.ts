import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

const LONG = 60_000;

describeModes("objects", (stack) => {
  const freshRun = async (): Promise<{ api: Api; path: string; id: string }> => {
    const { api } = await stack().organization();
    const { id } = (await api.post("/runs", { project: "p", name: "r" })).json.run;
    return { api, id, path: `/api/runs/${id}/objects` };
  };
  const upload = async (api: Api, runId: string, more: object = {}) =>
    (
      await api.post(`/api/runs/${runId}/artifacts/upload`, {
        name: "a.png",
        content_base64: Buffer.from("png").toString("base64"),
        mime_type: "image/png",
        ...more,
      })
    ).json.artifact;

  test("a table is stored, listed without rows, and its rows are read back as they were sent, page by page", async () => {
    const { api, path, id } = await freshRun();
    const rows = Array.from({ length: 250 }, (_, i) =>
      i % 7 === 3 ? { ok: false } : { q: `what "${i}"`, ok: true, n: { deep: [i, null, 1.5] } },
    );
    const made = await api.post(path, { key: "eval/samples", kind: "table", step: 3, rows, metadata: { a: 1 } });
    expect(made.status).toBe(200);
    expect(made.json.object).toMatchObject({
      run_id: id,
      key: "eval/samples",
      kind: "table",
      step: 3,
      value: { kind: "table", metadata: { a: 1 } },
      metadata: { a: 1 },
      summary: { row_count: 250, columns: ["q", "ok", "n"] },
      artifact_id: null,
      artifact: null,
    });
    expect(Number.isSafeInteger(made.json.object.id)).toBe(true);
    expect((await api.get(path)).json).toEqual({ objects: [made.json.object], limit: 100, offset: 0 });

    const at = `/api/objects/${made.json.object.id}/rows`;
    const first = (await api.get(at)).json;
    expect(first).toMatchObject({ object_id: made.json.object.id, limit: 100, offset: 0 });
    expect(first.rows[3]).toEqual({ row_index: 3, row: { ok: false }, created_at: made.json.object.created_at });
    const all = [];
    for (const query of ["limit=90", "limit=90&offset=90", "limit=1000&offset=180"]) {
      all.push(...(await api.get(`${at}?${query}`)).json.rows);
    }
    expect(all.map((row: { row: unknown }) => row.row)).toEqual(rows);
    expect(all.map((row: { row_index: number }) => row.row_index)).toEqual(rows.map((_, i) => i));
    expect((await api.get(`${at}?offset=250`)).json.rows).toEqual([]);
    expect((await api.get(`${at}?offset=5000`)).json.rows).toEqual([]);
    // More rows than one request may have come in several.
    expect((await api.post(at, { rows: [{ last: true }], offset: 250 })).json).toEqual({
      object_id: made.json.object.id,
      row_count: 251,
    });
    const repeated = await api.post(at, { rows: [{ last: true }], offset: 250 });
    expect(repeated).toMatchObject({
      status: 409,
      json: { code: "table_offset_mismatch", field: "offset", position: 251 },
    });
    const [object] = (await api.get(path)).json.objects;
    expect(object.summary.row_count).toBe(251);
    const selected = (await api.get(`${at}?filter=${encodeURIComponent("last=true")}&sort_by=last&sort_dir=desc`)).json;
    expect(selected).toMatchObject({ total: 1, rows: [{ row_index: 250, row: { last: true } }] });
    for (const query of ["filter=x", "sort_dir=up", "sort_by=a&limit=1001"])
      expect([query, (await api.get(`${at}?${query}`)).status]).toEqual([query, 400]);
    for (const body of [{ rows: [], offset: 251 }, { rows: [{}] }, { rows: [1], offset: 251 }])
      expect((await api.post(at, body)).status).toBe(400);
    const stranger = (await stack().organization()).api;
    expect((await stranger.post(at, { rows: [{}], offset: 251 })).status).toBe(404);
    const asExplored = (await api.get(`/api/objects/attr:${made.json.object.id}/rows?limit=1&offset=199`)).json;
    expect(asExplored.rows).toMatchObject([{ row_index: 199, row: rows[199] }]);
  });

  test("cells keep every digit and their order, and what cannot be stored becomes U+FFFD", async () => {
    const { api, path } = await freshRun();
    const row = '{"seed":12345678901234567890,"b":[98765432109876543210],"a":1.5,"empty":"","s":"é\\n\\"\\\\"}';
    const odd = String.raw`{"s":"a\u0000\udc00"}`;
    const made = await api.call("POST", path, { rawBody: `{"key":"t","kind":"table","rows":[${row},{},${odd}]}` });
    expect(made.json.object.summary).toEqual({ row_count: 3, columns: ["seed", "b", "a", "empty", "s"] });
    const read = await api.get(`/api/objects/${made.json.object.id}/rows`);
    expect(read.text).toContain(`"row":${row}`);
    expect(read.json.rows[1].row).toEqual({});
    expect(read.json.rows[2].row).toEqual({ s: "a\uFFFD\uFFFD" });
  });

  test(
    "a table of 1,000 rows and 128 columns is stored and read",
    async () => {
      const { api, path } = await freshRun();
      const rows = Array.from({ length: 1000 }, (_, i) =>
        Object.fromEntries(Array.from({ length: 128 }, (_unused, c) => [`c${c}`, i * c])),
      );
      const made = await api.post(path, { key: "wide", kind: "table", rows });
      expect(made.status).toBe(200);
      const page = (await api.get(`/api/objects/${made.json.object.id}/rows?limit=1000`)).json;
      expect(page.rows.map(({ row }: { row: unknown }) => row)).toEqual(rows);
    },
    LONG,
  );

  test("media show their artifact; without it they keep its id", async () => {
    const { api, path, id } = await freshRun();
    const artifact = await upload(api, id, { step: 12, name: 'a "b".png' });
    const made = await api.post(path, {
      key: "eval/frame",
      kind: "image",
      artifact_id: artifact.id,
      metadata: { caption: "c" },
      summary: { artifact_name: "x", size_bytes: null, mine: 1 },
      value: { left: "aside" },
    });
    expect(made.status).toBe(200);
    const link = {
      id: artifact.id,
      name: artifact.name,
      uri: artifact.uri,
      mime_type: "image/png",
      size_bytes: 3,
      storage_backend: artifact.storage_backend,
    };
    expect(made.json.object).toMatchObject({
      step: 12,
      value: { kind: "image", uri: artifact.uri, metadata: { caption: "c" } },
      metadata: { caption: "c" },
      artifact_id: artifact.id,
      artifact: link,
    });
    expect(made.json.object.summary).toEqual({
      mine: 1,
      artifact_name: artifact.name,
      artifact_uri: artifact.uri,
      mime_type: "image/png",
      size_bytes: 3,
    });
    const external = (await api.post(`/api/runs/${id}/artifacts`, { name: "v", uri: "s3://b/v.mp4" })).json.artifact;
    const video = await api.post(path, { key: "v", kind: "video", step: 1, artifact_id: external.id });
    expect(video.json.object.summary).toMatchObject({ artifact_uri: "s3://b/v.mp4", size_bytes: null });

    expect((await api.call("DELETE", `/api/artifacts/${artifact.id}`)).status).toBe(200);
    const [listed] = (await api.get(`${path}?kind=image`)).json.objects;
    expect(listed).toEqual({ ...made.json.object, artifact: null });
  });

  test("histograms and evaluations keep their values, and histograms that are attributes show among the objects", async () => {
    const { api, path, id } = await freshRun();
    const value = { bins: [0, 1, 2], counts: [3, 4.5], metadata: { unit: "m" } };
    const artifact = await upload(api, id);
    const object = { key: "h", kind: "histogram", step: 2, value, artifact_id: artifact.id };
    const made = await api.post(path, object);
    expect(made.json.object).toMatchObject({ value, metadata: { unit: "m" }, artifact_id: null, artifact: null });
    const logged = await api.post(`/api/runs/${id}/attributes`, {
      attributes: [
        { path: "h2", type: "histogram_series", step: 1, value, summary: { s: 1 } },
        { path: "text", type: "string_series", step: 1, value: "hello" },
      ],
    });
    const evaluation = await api.post(path, { key: "e", kind: "classification_eval", value: evaluationOf() });
    expect(evaluation.json.object.value).toEqual(evaluationOf());
    const { objects } = (await api.get(path)).json;
    expect(objects.map(({ key }: { key: string }) => key)).toEqual(["h", "h2", "e"]);
    expect(objects[1]).toMatchObject({
      id: logged.json.attributes[0].id,
      kind: "histogram",
      step: 1,
      value,
      metadata: { unit: "m" },
      summary: { s: 1 },
      artifact: null,
    });
    expect((await api.get(`/api/objects/${objects[1].id}/rows`)).status).toBe(400);
  });

  test.each([
    ["no key", { kind: "table" }],
    ["a blank key", { key: " ", kind: "table" }],
    ["a key of 513 bytes", { key: "k".repeat(513), kind: "table" }],
    ["no kind", { key: "k" }],
    ["an unknown kind", { key: "k", kind: "histogram_series" }],
    ["a negative step", { key: "k", kind: "table", step: -1 }],
    ["a text as step", { key: "k", kind: "table", step: "1" }],
    ["rows that are not a list", { key: "k", kind: "table", rows: {} }],
    ["a row that is a list", { key: "k", kind: "table", rows: [[1]] }],
    ["1,001 rows", { key: "k", kind: "table", rows: Array.from({ length: 1001 }, () => ({})) }],
    ["129 columns", { key: "k", kind: "table", rows: [manyColumns(129)] }],
    ["a row of 16,385 bytes", { key: "k", kind: "table", rows: [{ a: "x".repeat(16_385 - '{"a":""}'.length) }] }],
    ["rows without a table", { key: "k", kind: "histogram", rows: [], value: { bins: [1], counts: [1] } }],
    ["metadata of 16,385 bytes", { key: "k", kind: "table", metadata: { a: "x".repeat(16_385 - 8) } }],
    ["a list as metadata", { key: "k", kind: "table", metadata: [] }],
    ["a summary of 16,385 bytes", { key: "k", kind: "table", summary: { a: "x".repeat(16_385 - 8) } }],
    ["a value of 65,537 bytes", { key: "k", kind: "table", value: "x".repeat(65_537 - 2) }],
    ["no artifact of an image", { key: "k", kind: "image" }],
    ["an artifact id that is none", { key: "k", kind: "image", artifact_id: "x" }],
    ["no value of a histogram", { key: "k", kind: "histogram" }],
    ["a histogram without counts", { key: "k", kind: "histogram", value: { bins: [1] } }],
    ["no value of an evaluation", { key: "k", kind: "classification_eval" }],
    ["a matrix of another sum", { key: "k", kind: "classification_eval", value: evaluationOf({ sample_count: 7 }) }],
  ])("with %s is 400 and stores nothing", async (_what, body) => {
    const { api, path } = await freshRun();
    expect((await api.post(path, body)).status).toBe(400);
    expect((await api.get(path)).json.objects).toEqual([]);
    expect((await api.post(`/api/runs/${randomUUID()}/objects`, body)).status).toBe(404);
  });

  test("an object at the limits is accepted", async () => {
    const { api, path } = await freshRun();
    const rows = [manyColumns(128), { a: "x".repeat(16_384 - '{"a":""}'.length) }];
    const texts = { metadata: { a: "x".repeat(16_384 - 8) }, summary: { a: "y".repeat(16_384 - 8) } };
    const body = { key: "k".repeat(512), kind: "table", rows, ...texts, value: "x".repeat(65_536 - 2) };
    expect((await api.post(path, body)).status).toBe(200);
    expect(
      (await api.post(path, { key: "k", kind: "table", rows: Array.from({ length: 1000 }, () => ({})) })).status,
    ).toBe(200);
  });

  test("an artifact that the caller cannot see is 404, one of another run 400", async () => {
    const { api, path, id } = await freshRun();
    const other = (await api.post("/runs", {})).json.run.id;
    const [mine, others, stranger] = [await upload(api, id), await upload(api, other), await freshRun()];
    const foreign = await upload(stranger.api, stranger.id);
    const post = async (artifactId: string): Promise<number> =>
      (await api.post(path, { key: "k", kind: "audio", artifact_id: artifactId })).status;
    expect([await post(mine.id), await post(others.id), await post(foreign.id), await post(randomUUID())]).toEqual([
      200, 400, 404, 404,
    ]);
  });

  test("an attribute links an artifact of its run, and no other", async () => {
    const { api, id } = await freshRun();
    const path = `/api/runs/${id}/attributes`;
    const artifact = await upload(api, id);
    const item = { path: "f", type: "file", value: { a: 1 }, artifact_id: artifact.id };
    const made = await api.post(path, { attributes: [{ ...item, artifact_id: null }, item] });
    expect(made.json.attributes).toMatchObject([{ artifact_id: null }, { artifact_id: artifact.id }]);
    expect((await api.get(path)).json.attributes).toEqual(made.json.attributes);
    const other = await upload(api, (await api.post("/runs", {})).json.run.id);
    const refused = await api.post(path, { attributes: [item, { ...item, artifact_id: other.id }] });
    expect(refused).toMatchObject({
      status: 400,
      json: { error: "attributes[1]: artifact_id must be an artifact of the same run", field: "attributes" },
    });
    expect((await api.get(path)).json.attributes).toHaveLength(2);
  });

  test("one key stores one object, in any order of its keys; another body is 409", async () => {
    const { api, path } = await freshRun();
    const post = (body: object) =>
      api.post(path, { key: "k", kind: "table", ...body }, { headers: { "idempotency-key": "one" } });
    const first = await post({ rows: [{ a: 1, b: 2 }], metadata: { x: 1, y: 2 } });
    const again = await post({ metadata: { y: 2, x: 1 }, rows: [{ b: 2, a: 1 }], unknown: 1 });
    expect(first.headers["idempotency-replayed"]).toBeUndefined();
    expect(again).toMatchObject({ status: 200, headers: { "idempotency-replayed": "true" } });
    expect(again.json).toEqual(first.json);
    for (const rows of [[{ a: 1, b: 3 }], [{ a: 1 }], [{ a: 1, b: 2 }, {}]]) {
      expect(await post({ rows, metadata: { x: 1, y: 2 } })).toMatchObject({
        status: 409,
        json: { code: "idempotency_key_reused" },
      });
    }
    expect((await api.get(path)).json.objects).toHaveLength(1);
  });

  test("an unpaid organization is 402", async () => {
    const { api, path } = await freshRun();
    const operator = { headers: { "x-svc-bootstrap-token": stack().bootstrapToken } };
    const { org_id: orgId } = (await api.post(path, { key: "k", kind: "table" })).json.object;
    await stack().api.patch(`/api/orgs/${orgId}`, { billing_state: "read_only_payment_required" }, operator);
    expect((await api.post(path, { key: "k", kind: "table" })).status).toBe(402);
    expect((await api.get(path)).status).toBe(200);
  });

  test("a list filters by kind and exact key and pages; the last step comes first, no step last, then the newest", async () => {
    const { api, path } = await freshRun();
    const value = { bins: [0], counts: [1] };
    const put = (key: string, kind: string, step?: number) =>
      api.post(path, { key, kind, step, ...(kind === "histogram" ? { value } : {}) });
    await put("a", "table", 1);
    await put("b", "histogram");
    await put("c", "table");
    await put("a", "histogram", 5);
    await put("ab", "table", 1);
    const list = async (query = ""): Promise<string[]> =>
      (await api.get(`${path}?${query}`)).json.objects.map((o: { key: string; kind: string }) => `${o.key} ${o.kind}`);
    const all = ["a histogram", "ab table", "a table", "c table", "b histogram"];
    expect(await list()).toEqual(all);
    expect(await list("kind=table")).toEqual(["ab table", "a table", "c table"]);
    expect(await list("key=a")).toEqual(["a histogram", "a table"]);
    expect(await list("key=a&kind=table")).toEqual(["a table"]);
    expect(await list("limit=2&offset=1")).toEqual(all.slice(1, 3));
    expect(await list("key=a&limit=1&offset=1")).toEqual(["a table"]);
    for (const query of ["kind=text", "kind=x", "limit=0", "limit=501", "offset=-1"]) {
      expect((await api.get(`${path}?${query}`)).status).toBe(400);
    }
    expect((await api.get(`/api/runs/${randomUUID()}/objects?limit=0`)).status).toBe(404);
  });

  test(
    "a page of more than 16 MiB is 400 on limit and says how many fit",
    async () => {
      const { api, id } = await freshRun();
      const path = `/api/runs/${id}/attributes`;
      const item = { path: "a", type: "config", value: "x".repeat(3_900_000) };
      for (let i = 0; i < 5; i += 1) expect((await api.post(path, item)).status).toBe(200);
      expect(await api.get(path)).toMatchObject({
        status: 400,
        json: { field: "limit", error: expect.stringContaining("at most 4 ") },
      });
      expect((await api.get(`${path}?limit=4`)).json.attributes).toHaveLength(4);
      expect((await api.get(`${path}?limit=4&offset=4`)).json.attributes).toHaveLength(1);
    },
    LONG,
  );

  test("rows of an object that is not a table are 400, of a missing object 404, before the query is checked", async () => {
    const { api, path } = await freshRun();
    const histogram = { key: "h", kind: "histogram", value: { bins: [0], counts: [1] } };
    const { id } = (await api.post(path, histogram)).json.object;
    const stranger = await freshRun();
    const status = async (who: Api, object: string | number, query = ""): Promise<number> =>
      (await who.get(`/api/objects/${object}/rows?${query}`)).status;
    expect(await status(api, id)).toBe(400);
    for (const object of [id + 1, "x", "attr:", "9".repeat(20), "1.5", randomUUID()]) {
      expect(await status(api, object, "limit=0")).toBe(404);
    }
    expect(await status(stranger.api, id)).toBe(404);
    const table = (await api.post(path, { key: "t", kind: "table" })).json.object.id;
    expect((await api.get(`/api/objects/${table}/rows`)).json.rows).toEqual([]);
    for (const query of ["limit=0", "limit=1001", "offset=-1"]) expect(await status(api, table, query)).toBe(400);
  });
});

function manyColumns(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, i]));
}

function evaluationOf(more: object = {}) {
  return {
    schema_version: 1,
    task: "binary_classification",
    split: "test",
    class_names: ["no", "yes"],
    positive_label: "yes",
    threshold_direction: "score_gte_threshold",
    threshold: 0.5,
    sample_count: 10,
    confusion_matrix: [
      [4, 1],
      [2, 3],
    ],
    accuracy: 0.7,
    macro_f1: 0.69,
    per_class: [{ class_name: "yes", precision: 0.75, recall: 0.6, f1: 0.66, support: 5 }],
    pr_curve: [{ threshold: 0.5, precision: 0.75, recall: 0.6 }],
    roc_curve: [{ threshold: 0.5, tpr: 0.6, fpr: 0.2 }],
    predictions: [{ id: "1", true_label: "yes", predicted_label: "no", score: 0.4, correct: false }],
    ...more,
  };
}
