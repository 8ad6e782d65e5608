import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { underDeadline } from "@tidemark/work";
import type { Db } from "@tidemark/pg";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";
import { readSeries } from "./read-series.ts";

let ingest: IngestFixture;
let tenant: Tenant;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

test("a read of many runs ends between two statements when its client has left", async () => {
  const runIds = await Promise.all(Array.from({ length: 12 }, () => ingest.newRun(tenant)));
  for (const runId of runIds)
    await ingest.write.appendMetrics({ runId, columns: columnsOf([0, { loss: 1 }]) }, callOf(tenant));
  const left = new AbortController();
  let statements = 0;
  const counting: Db = {
    ...ingest.db,
    each: async (statement, values, take) => {
      statements += 1;
      if (statements === 3) left.abort();
      await ingest.db.each(statement, values, take);
    },
  };
  const range = { startStep: undefined, endStep: undefined };
  const query = { orgId: tenant.orgId, runIds, keys: ["loss"], range, limit: 10, buckets: undefined };
  const read = (db: Db) => readSeries(db, query, { bytes: 1000, series: 1 });
  const reading = underDeadline(Date.now() + 10_000, () => read(counting), { left: left.signal });
  await expect(reading).rejects.toMatchObject({ reason: "deadline_exceeded" });
  expect(statements).toBeLessThan(6);
  expect(await read(ingest.db)).toHaveLength(12);
});
