import { expect, test } from "@jest/globals";
import pg from "pg";
import type { Answer, Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";

// Each bound of an export, from both sides (API specification, Limits).

describeModes("the limits of exports", (stack) => {
  const newRun = async (api: Api, name = "r"): Promise<string> => (await api.post("/runs", { name })).json.run.id;
  const made = ({ status, text }: Answer): void => {
    if (status !== 200) throw new Error(text);
  };
  const truncation = ({ status, headers, json }: Answer): unknown[] => [
    status,
    headers["x-svc-export-truncated"],
    headers["x-instantml-export-truncated"],
    json.truncated,
  ];
  const TRUNCATED = [200, "true", "true", true];
  const COMPLETE = [200, "false", "false", false];

  /** Writes `points` points of each of `keys` keys. */
  async function writePoints(api: Api, runId: string, points: number, keys: number, prefix = "k"): Promise<void> {
    const names = Array.from({ length: keys }, (_, i) => `${prefix}${i}`);
    for (let from = 0; from < points; from += 100) {
      const steps = Array.from({ length: Math.min(100, points - from) }, (_, i) => from + i);
      const batch = steps.map((step) => ({ step, metrics: Object.fromEntries(names.map((name) => [name, step])) }));
      made(await api.post(`/runs/${runId}/metrics/batch`, { points: batch }));
    }
  }

  /** Runs a statement above row level security. */
  async function asOwner(statement: string, values: readonly unknown[]): Promise<void> {
    const client = new pg.Client({ connectionString: stack().databaseUrl });
    await client.connect();
    await client.query(statement, [...values]);
    await client.end();
  }

  test("500 runs of a filter", async () => {
    const { api } = await stack().organization();
    for (let i = 0; i < 500; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, k) => newRun(api, `run ${String(i + k).padStart(3, "0")}`)));
    }
    const complete = await api.get("/api/export?sort_by=name");
    expect([truncation(complete), complete.json.runs.length]).toEqual([COMPLETE, 500]);
    await newRun(api, "run 0");
    const cut = await api.get("/api/export?sort_by=name");
    expect(truncation(cut)).toEqual(TRUNCATED);
    const names = cut.json.runs.map(({ name }: { name: string }) => name);
    expect([names.length, names[0], names[1], names[499]]).toEqual([500, "run 0", "run 000", "run 498"]);
    const csv = await api.get("/api/export?format=csv");
    expect([csv.status, csv.headers["x-svc-export-truncated"]]).toEqual([200, "true"]);
  });

  test("100,000 points, over all runs", async () => {
    const { api } = await stack().organization();
    const [first, second] = [await newRun(api), await newRun(api)];
    await writePoints(api, first, 60, 1000);
    await writePoints(api, second, 100, 400);
    const query = `/api/export?run_ids=${first},${second}`;
    const complete = await api.get(query);
    expect([truncation(complete), complete.json.metrics.length]).toEqual([COMPLETE, 100_000]);
    await writePoints(api, second, 1, 1);
    const cut = await api.get(query);
    expect([truncation(cut), cut.json.metrics.length]).toEqual([TRUNCATED, 100_000]);
    const ofSecond = cut.json.metrics.filter(({ run_id }: { run_id: string }) => run_id === second);
    expect(ofSecond).toHaveLength(40_000);
    expect(ofSecond.slice(0, 2)).toMatchObject([
      { key: "k0", step: 0 },
      { key: "k0", step: 0 },
    ]);
    // One more run has points, and none of them fits.
    const third = await newRun(api);
    await writePoints(api, third, 1, 1);
    expect(truncation(await api.get(`/api/export?run_ids=${third}`))).toEqual(COMPLETE);
  });

  test("25,000 metric series, over all runs", async () => {
    const { api } = await stack().organization();
    const [first, second] = [await newRun(api), await newRun(api)];
    for (let i = 0; i < 24; i++) await writePoints(api, first, 1, 1000, `${i}/`);
    await writePoints(api, second, 1, 1000, "x");
    const query = `/api/export?run_ids=${first},${second}`;
    const complete = await api.get(query);
    expect([truncation(complete), complete.json.metric_series.length]).toEqual([COMPLETE, 25_000]);
    await writePoints(api, second, 1, 1, "y");
    const cut = await api.get(query);
    expect([truncation(cut), cut.json.metric_series.length]).toEqual([TRUNCATED, 25_000]);
    expect(cut.json.metric_series.at(-1)).toMatchObject({ run_id: second, key: "x999" });
  });

  test("25,000 attributes, objects among them", async () => {
    const { api } = await stack().organization();
    const [first, second] = [await newRun(api), await newRun(api)];
    const write = async (runId: string, count: number) => {
      const attributes = Array.from({ length: count }, (_, i) => ({ path: `a${i}`, type: "config", value: i }));
      made(await api.post(`/api/runs/${runId}/attributes`, { attributes }));
    };
    await write(first, 20_000);
    await write(second, 4999);
    made(await api.post(`/api/runs/${second}/objects`, { key: "t", kind: "table", rows: [] }));
    const query = `/api/export?run_ids=${first},${second}`;
    const complete = await api.get(query);
    expect([truncation(complete), complete.json.attributes.length]).toEqual([COMPLETE, 25_000]);
    expect(complete.json.attributes.at(-1)).toMatchObject({ run_id: second, path: "t", type: "table" });
    await write(first, 1);
    const cut = await api.get(query);
    expect([truncation(cut), cut.json.attributes.length]).toEqual([TRUNCATED, 25_000]);
    expect(cut.json.attributes.at(-1)).toMatchObject({ run_id: second, path: "a4998" });
  });

  test("10,000 artifacts", async () => {
    const { api, orgId } = await stack().organization();
    const run = (await api.post("/runs", {})).json.run;
    const addMany = `INSERT INTO artifacts.artifacts (org_id, id, run_id, project_id, type, name, uri, mime_type, storage_backend, metadata)
      SELECT $1, gen_random_uuid(), $2, $3, 'file', 'a' || n, 'x', 'text/plain', 'external', '{}' FROM generate_series(1, 9999) n`;
    await asOwner(addMany, [orgId, run.id, run.project_id]);
    await asOwner("INSERT INTO artifacts.run_counts (org_id, run_id, files) VALUES ($1, $2, 9999)", [orgId, run.id]);
    made(await api.post(`/api/runs/${run.id}/artifacts`, { name: "second to last" }));
    const complete = await api.get("/api/export");
    expect([truncation(complete), complete.json.artifacts.length]).toEqual([COMPLETE, 10_000]);
    made(await api.post(`/api/runs/${run.id}/artifacts`, { name: "last" }));
    const cut = await api.get("/api/export");
    expect([truncation(cut), cut.json.artifacts.length]).toEqual([TRUNCATED, 10_000]);
    expect(cut.json.artifacts[0].name).toBe("last");
    expect(new Set(cut.json.artifacts.map(({ id }: { id: string }) => id)).size).toBe(10_000);
  });

  test("25,000 rows of tables", async () => {
    const { api } = await stack().organization();
    const runId = await newRun(api);
    const write = async (count: number, step: number) => {
      const rows = Array.from({ length: count }, (_, i) => ({ i }));
      made(await api.post(`/api/runs/${runId}/objects`, { key: "t", kind: "table", step, rows }));
    };
    for (let step = 0; step < 24; step++) await write(1000, step);
    await write(950, 24);
    await write(50, 25);
    const complete = await api.get("/api/export");
    expect([truncation(complete), complete.json.table_object_rows.length]).toEqual([COMPLETE, 25_000]);
    expect(complete.json.table_object_rows.at(-1)).toMatchObject({ row_index: 49, row: { i: 49 } });
    await write(1, 23.5);
    const cut = await api.get("/api/export");
    expect([truncation(cut), cut.json.table_object_rows.length]).toEqual([TRUNCATED, 25_000]);
    expect(cut.json.table_object_rows.at(-1)).toMatchObject({ row_index: 48, row: { i: 48 } });
  });

  test("25 MiB of CSV: more are refused, and the same export as JSON is not", async () => {
    const { api } = await stack().organization();
    const runId = await newRun(api);
    await writePoints(api, runId, 50, 1000, "a-metric-with-a-name-of-usual-length/");
    const fits = await api.get("/api/export?format=csv");
    expect(fits.status).toBe(200);
    expect(Number(fits.headers["content-length"])).toBe(Buffer.byteLength(fits.text));
    expect(Buffer.byteLength(fits.text)).toBeLessThanOrEqual(26_214_400);
    await writePoints(api, runId, 50, 1000, "another-metric-with-a-name-of-usual-length/");
    const refused = await api.get("/api/export?format=csv");
    expect([refused.status, refused.json, refused.headers["content-type"]]).toEqual([
      400,
      { error: "the export has more than 25 MiB as CSV; export fewer runs, or format=json", field: "format" },
      "application/json; charset=utf-8",
    ]);
    expect((await api.get("/api/export")).status).toBe(200);
  });

  test("cases that a plan does not show: an empty table, and a run without anything", async () => {
    const { api } = await stack().organization();
    const runId = await newRun(api);
    made(await api.post(`/api/runs/${runId}/objects`, { key: "t", kind: "table", rows: [] }));
    await newRun(api);
    const answer = await api.get("/api/export");
    expect([truncation(answer), answer.json.table_object_rows, answer.json.attributes.length]).toEqual([
      COMPLETE,
      [],
      1,
    ]);
  });
});
