import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../ingest.testing.ts";
import { visitLandingRows, type LandingQuery, type LandingRow } from "./list-landing-rows.ts";

let ingest: IngestFixture;
let tenant: Tenant;
let runIds: string[];

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
  runIds = [];
  for (const rows of [5, 0, 4]) {
    const runId = await ingest.newRun(tenant);
    runIds.push(runId);
    for (let step = 0; step < rows; step++) {
      const columns = columnsOf([step, step % 2 === 0 ? { even: 1 } : { odd: 1 }]);
      await ingest.write.appendMetrics({ runId, columns }, callOf(tenant));
    }
  }
});
afterAll(() => ingest.close());

async function visit(
  query: Partial<LandingQuery> = {},
  page?: { rowsMax: number; bytesMax: number },
): Promise<{ rows: LandingRow[]; places: number[] }> {
  const rows: LandingRow[] = [];
  const whole = { orgId: tenant.orgId, runIds, key: undefined, startStep: undefined, endStep: undefined, ...query };
  await visitLandingRows(ingest.db, whole, (row) => rows.push(row), page);
  return { rows, places: rows.map(({ place }) => place) };
}

const MIB = 2 ** 20;
const whole = [1, 1, 1, 1, 1, 3, 3, 3, 3];

test("rows come by run as asked, then by arrival", async () => {
  const { rows, places } = await visit();
  expect(places).toEqual(whole);
  const ids = rows.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
});

test.each([
  ["one row at a time", { rowsMax: 1, bytesMax: MIB }],
  ["two rows at a time", { rowsMax: 2, bytesMax: MIB }],
  ["as many rows as the first run has", { rowsMax: 5, bytesMax: MIB }],
  ["exactly as many as there are", { rowsMax: 9, bytesMax: MIB }],
  ["a row whenever the bytes are used up", { rowsMax: 100, bytesMax: 1 }],
  ["a few rows until the bytes are used up", { rowsMax: 100, bytesMax: 200 }],
])("pages of %s bring every row once and in order", async (_, page) => {
  const { rows, places } = await visit({}, page);
  expect(places).toEqual(whole);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(9);
});

test("runs without the key, and rows outside the bounds, are left out", async () => {
  expect((await visit({ key: "none" })).places).toEqual([]);
  expect((await visit({ startStep: 3 })).places).toEqual([1, 1, 3]);
  expect((await visit({ endStep: 0 })).places).toEqual([1, 3]);
  expect((await visit({ startStep: 1, endStep: 2 }, { rowsMax: 1, bytesMax: MIB })).places).toEqual([1, 1, 3, 3]);
});

test("another organization gets none of them", async () => {
  const { orgId } = await ingest.newTenant();
  expect((await visit({ orgId })).places).toEqual([]);
});
