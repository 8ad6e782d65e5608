import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import { request } from "undici";
import { describeWith, testDeep } from "../stack/describe-with.ts";
import type { Stack } from "../stack/attach.ts";
import { sharedStack } from "../stack/shared-stacks.ts";

const environment = await requirePython({
  requirements: join(import.meta.dirname, "parquet-requirements.txt"),
  leftOut: "whether pandas and DuckDB read exports as Parquet",
});

const run = promisify(execFile);

/** A point: its run, key, bits of step and value, and its times in microseconds. */
type Row = readonly [string, string, string, string, string, number | null, number];
type Read = { readonly kinds: string[]; readonly pandas: Row[]; readonly duckdb: Row[] };

const bits = (value: number): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString("hex");
};

describeWith(environment)("an export as Parquet", () => {
  let stack: Stack;
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidemark-parquet-"));
    stack = await sharedStack("embedded", {});
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  const readExport = async (key: string, query: string): Promise<Read> => {
    const { statusCode, headers, body } = await request(`${stack.baseUrl}/api/export?format=parquet&${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const bytes = Buffer.from(await body.arrayBuffer());
    expect([statusCode, headers["content-type"]]).toEqual([200, "application/vnd.apache.parquet"]);
    expect(headers["content-disposition"]).toBe('attachment; filename="tidemark-export.parquet"');
    const path = join(folder, "points.parquet");
    await writeFile(path, bytes);
    const { stdout } = await run(environment!.python, [join(import.meta.dirname, "read_parquet.py"), path], {
      maxBuffer: 256 * 1024 * 1024,
    });
    return JSON.parse(stdout) as Read;
  };

  test("has every point of every run, to the last bit, for pandas and for DuckDB", async () => {
    const { api, key } = await stack.organization();
    const first = (await api.post("/runs", { project: "demo", name: 'a "b", é 😀' })).json.run.id as string;
    const second = (await api.post("/runs", { project: "demo", name: "second" })).json.run.id as string;
    await api.post("/runs", { project: "demo", name: "without points" });
    await api.post("/runs", { project: "other", name: "elsewhere" });
    const values = [-0, 0, 1 / 3, 5e-324, 1.7976931348623157e308, -1e-7, NaN, Infinity, -Infinity];
    const written = values.map((value, i) => ({
      step: i + 0.5,
      metrics: { "loss/é 😀": value },
      ...(i % 2 === 0 ? {} : { timestamp: `2026-11-20T10:00:00.00000${i}Z` }),
    }));
    // As text, because JSON.stringify writes -0 as 0, and null for what is not finite.
    const text = JSON.stringify({ points: written }, (_, value: unknown) =>
      Number.isFinite(value) ? value : typeof value === "number" ? String(value) : value,
    );
    const rawBody = text.replace('😀":0}', '😀":-0}');
    expect((await api.post(`/runs/${first}/metrics/batch`, undefined, { rawBody })).status).toBe(200);
    await api.post(`/runs/${second}/metrics`, { metrics: { loss: 2, acc: 0.5 }, step: 1 });

    const read = await readExport(key, "project=demo");
    expect(read.kinds).toEqual(["float64", "float64", "datetime64[us, UTC]", "datetime64[us, UTC]"]);
    expect(read.duckdb).toEqual(read.pandas);
    const seconds = Date.parse("2026-11-20T10:00:00Z") * 1000;
    const ofFirst = read.pandas.filter(([id]) => id === first);
    expect(ofFirst.map((row) => row.slice(1, 6))).toEqual(
      values.map((value, i) => [
        'a "b", é 😀',
        "loss/é 😀",
        bits(i + 0.5),
        bits(value),
        i % 2 === 0 ? null : seconds + i,
      ]),
    );
    const ofSecond = read.pandas.filter(([id]) => id === second).map((row) => row.slice(1, 5));
    expect(new Set(ofSecond)).toEqual(
      new Set([
        ["second", "acc", bits(1), bits(0.5)],
        ["second", "loss", bits(1), bits(2)],
      ]),
    );
    expect(read.pandas).toHaveLength(values.length + 2);
    for (const [, , , , , , createdUs] of read.pandas)
      expect(Math.abs(createdUs / 1000 - Date.now())).toBeLessThan(3_600_000);
    expect((await readExport(key, `run_ids=${second}`)).duckdb.map(([id]) => id)).toEqual([second, second]);
  });

  testDeep("of several groups of rows has each point once, in the order of arrival", async () => {
    const { api, key } = await stack.organization();
    const { id } = (await api.post("/runs", { project: "demo", name: "r" })).json.run;
    const [COUNT, TOGETHER] = [70_000, 500];
    for (let from = 0; from < COUNT; from += TOGETHER) {
      const points = Array.from({ length: TOGETHER }, (_, i) => ({
        step: from + i,
        metrics: { loss: Math.sqrt(from + i) },
      }));
      expect((await api.post(`/runs/${id}/metrics/batch`, { points })).status).toBe(200);
    }
    const { duckdb } = await readExport(key, "project=demo");
    expect(duckdb.map(([, , , step, value]) => step + value)).toEqual(
      Array.from({ length: COUNT }, (_, i) => bits(i) + bits(Math.sqrt(i))),
    );
  });

  test("without points is a table without rows", async () => {
    const { api, key } = await stack.organization();
    await api.post("/runs", { project: "demo", name: "r" });
    expect(await readExport(key, "project=demo")).toMatchObject({ pandas: [], duckdb: [] });
  });
});
