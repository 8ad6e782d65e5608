import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sql } from "@tidemark/pg";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

const heads = sql(
  "test_view_of_many_heads",
  `SELECT key, count, min, max, mean, latest, best, first_step, last_step FROM ingest.metric_heads_v1
   WHERE org_id = $1 AND run_id = $2 ORDER BY key`,
);

// 32 keys to a page, and the first 4,096 keys are found in another way than the rest.
test.each([1, 31, 32, 33, 64, 4095, 4096, 4097, 4130])(
  "the heads of a run of %i keys are each those of their key",
  async (count) => {
    const runId = await ingest.newRun(tenant);
    const metrics = (from: number, to: number) =>
      Object.fromEntries(
        Array.from({ length: to - from }, (_, i) => [`k${String(from + i).padStart(5, "0")}`, from + i]),
      );
    for (let from = 0; from < count; from += 1000) {
      const columns = columnsOf([7, metrics(from, Math.min(count, from + 1000))]);
      await ingest.write.appendMetrics({ runId, columns }, callOf(tenant));
    }
    expect(await ingest.owner.rows(heads, [tenant.orgId, runId])).toEqual(
      Object.entries(metrics(0, count)).map(([key, value]) => ({
        key,
        count: 1,
        min: value,
        max: value,
        mean: value,
        latest: value,
        best: value,
        first_step: 7,
        last_step: 7,
      })),
    );
  },
);
