import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { chunkOfRows, rowsOfChunk } from "@tidemark/archive";
import { create } from "@bufbuild/protobuf";
import { TableChunkSchema } from "@tidemark/proto/ingest/v1/objects";
import { testSql } from "@tidemark/testkit";
import { callOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";
import { tableOf } from "./objects.fixture.ts";
import { packChunk } from "./table-pack.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let objectId: number;
let runId: string;

beforeAll(async () => {
  ingest = await startIngest();
});
afterAll(() => ingest.close());
beforeEach(async () => {
  tenant = await ingest.newTenant();
  runId = await ingest.newRun(tenant);
  objectId = (await ingest.write.createObject(tableOf(runId), callOf(tenant))).object!.id;
});

const chunksOf = (rows: readonly object[]) =>
  Array.from({ length: Math.ceil(rows.length / 100) }, (_, i) =>
    create(
      TableChunkSchema,
      chunkOfRows(rows.slice(i * 100, (i + 1) * 100).map((row) => JSON.stringify(row))) as never,
    ),
  );
const numbered = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ n: from + i }));
const append = (offset: number, rows: readonly object[], call = callOf(tenant)) =>
  ingest.write.appendTableRows({ objectId, offset, chunks: chunksOf(rows) }, call);
const list = (query: object = {}) => ingest.read.listTableRows({ objectId, limit: 1000, ...query }, callOf(tenant));
const valuesOf = async (query: object = {}) => {
  const { chunks, selected } = await list(query);
  const rows = selected?.rowsJson ?? chunks.flatMap((chunk) => rowsOfChunk(chunk, 0, chunk.rowCount));
  return rows.map((row) => JSON.parse(row) as Record<string, unknown>);
};

describe("rows that are appended", () => {
  test("follow those before, in full chunks, and are counted", async () => {
    for (const [offset, count] of [
      [0, 30],
      [30, 70],
      [100, 250],
      [350, 1],
    ] as const) {
      expect(await append(offset, numbered(offset, count))).toMatchObject({ rowCount: offset + count });
    }
    expect(await valuesOf()).toEqual(numbered(0, 351));
    expect((await list()).chunks.map(({ rowCount }) => rowCount)).toEqual([100, 100, 100, 51]);
    const { objects } = await ingest.read.listObjects({ runId, limit: 1 }, callOf(tenant));
    expect(JSON.parse(Buffer.from(objects[0]!.summaryJson).toString())).toEqual({ row_count: 351, columns: ["n"] });
  });

  test("may have other columns than those before", async () => {
    await append(0, [{ a: 1 }]);
    await append(1, [{ b: "x", a: 2 }, {}]);
    expect(await valuesOf()).toEqual([{ a: 1 }, { b: "x", a: 2 }, {}]);
  });

  test("are refused at another offset, with the number of rows", async () => {
    await append(0, numbered(0, 5));
    for (const offset of [0, 4, 6]) {
      await expect(append(offset, numbered(0, 1))).rejects.toMatchObject({
        reason: "table_offset_mismatch",
        field: "offset",
        position: 5,
      });
    }
  });

  test("are stored once by several that append at the same place", async () => {
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => append(0, numbered(0, 150))));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await valuesOf()).toEqual(numbered(0, 150));
  });

  test("are at most 100,000, which are sorted and filtered", async () => {
    const { rows, bytes } = packChunk(chunksOf(numbered(0, 100))[0]!);
    const fill = testSql(
      "INSERT INTO ingest.table_chunks (org_id, object_id, chunk, rows, bytes) SELECT $1, $2, n, $3, $4 FROM generate_series(0, 998) AS n",
    );
    await ingest.db.withTenant(tenant.orgId, (tx) => tx.count(fill, [tenant.orgId, objectId, rows, bytes]));
    await append(99_900, numbered(0, 100));
    await expect(append(100_000, numbered(0, 1))).rejects.toMatchObject({ reason: "bad_request", field: "rows" });
    const sorted = (await list({ sortBy: "n", descending: true, limit: 2, offset: 998 })).selected!;
    expect(sorted).toMatchObject({ rowIndexes: [99_899, 99_999], total: 100_000, rowsJson: ['{"n":99}', '{"n":99}'] });
    expect((await list({ filter: "n>=98", limit: 1, offset: 1999 })).selected).toMatchObject({
      rowIndexes: [99_999],
      total: 2000,
    });
  });

  test("are not those of others", async () => {
    const stranger = await ingest.newTenant();
    const rows = numbered(0, 1);
    await expect(append(0, rows, callOf(stranger))).rejects.toMatchObject({ reason: "not_found" });
    await expect(append(0, [])).rejects.toMatchObject({ reason: "bad_request", field: "rows" });
  });
});

describe("rows that are selected", () => {
  const rows = [
    { name: "cat", score: 0.5 },
    { name: "Dog", score: 10 },
    { score: 2, note: "a CAT" },
    { name: "eel", score: null },
    { name: 'the "cat"' },
  ];
  beforeEach(async () => {
    await append(0, rows);
  });

  test.each<[string, object, number[]]>([
    ["sorted", { sortBy: "score" }, [0, 2, 1, 3, 4]],
    ["sorted downwards", { sortBy: "score", descending: true }, [1, 2, 0, 3, 4]],
    ["sorted by a column that no row has", { sortBy: "none" }, [0, 1, 2, 3, 4]],
    ["filtered", { filter: "score>=0.5 score<3" }, [0, 2]],
    ["filtered and sorted", { filter: "score>0", sortBy: "name", descending: true }, [0, 1, 2]],
    ["found by a text", { q: "CaT" }, [0, 2, 4]],
    ["found by a text with escapes", { q: 'e "c' }, [4]],
    ["a page of them", { sortBy: "score", limit: 2, offset: 1 }, [2, 1]],
    ["none", { filter: "score>99" }, []],
  ])("are %s", async (_what, query, expected) => {
    const { selected } = await list(query);
    expect(selected!.rowIndexes).toEqual(expected);
    expect(selected!.rowsJson.map((row) => JSON.parse(row) as object)).toEqual(expected.map((row) => rows[row]));
  });

  test("are selected again when the table has more", async () => {
    expect((await list({ filter: "score>1" })).selected!.total).toBe(2);
    await append(5, [{ score: 99 }]);
    expect((await list({ filter: "score>1" })).selected!.rowIndexes).toEqual([1, 2, 5]);
  });

  test("are refused with a filter that is none", async () => {
    await expect(list({ filter: "score>" })).rejects.toMatchObject({ reason: "bad_request", field: "filter" });
  });
});
