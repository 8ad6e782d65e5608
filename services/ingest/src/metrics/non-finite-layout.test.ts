import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { CHUNK_STATISTICS_BYTES, encodeBlock } from "@tidemark/codecs/metrics";
import { callOf, columnsOf, startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

let ingest: IngestFixture;
let tenant: Tenant;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

/** Writes a run with keys `k000` and so on: every fifth from the third on has finite and other values, the fourth others only. */
async function storeRun(keyCount: number, nameOf: (id: number) => string = (id) => `k${String(id).padStart(3, "0")}`) {
  const runId = await ingest.newRun(tenant);
  const write = (step: number, valueOf: (id: number) => number): Promise<unknown> =>
    ingest.write.appendMetrics(
      {
        runId,
        columns: columnsOf([
          step,
          Object.fromEntries(Array.from({ length: keyCount }, (_, id) => [nameOf(id), valueOf(id)])),
        ]),
      },
      callOf(tenant),
    );
  await write(1, (id) => (id % 5 === 3 ? Infinity : id));
  await write(2, (id) => (id % 5 === 2 || id % 5 === 3 ? NaN : id));
  return runId;
}

const doublesOf = (bytes: Buffer | null): number[] =>
  bytes === null ? [] : Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleBE(8 * i));

describe("aggregate pages with values that are not finite", () => {
  const columns = testSql(
    "SELECT latest, latest_step, count, variance, best_step, non_finite FROM ingest.metric_columns_v1($1, $2, '', NULL, '', 1000)",
  );
  type ColumnsRow = {
    latest: Buffer;
    latest_step: Buffer;
    count: Buffer;
    variance: Buffer;
    best_step: Buffer;
    non_finite: Buffer | null;
  };

  test.each([
    ["of one page", 12],
    ["of several pages", 70],
    ["of many pages", 600],
  ])("metric_columns_v1 has the numbers of each key of a run %s", async (_, keyCount) => {
    const runId = await storeRun(keyCount);
    const row = (await ingest.owner.one<ColumnsRow>(columns, [tenant.orgId, runId]))!;
    const ids = Array.from({ length: keyCount }, (__, id) => id);
    const [isMixed, isOther] = [(id: number) => id % 5 === 2, (id: number) => id % 5 === 3];
    expect(doublesOf(row.latest)).toEqual(ids.map((id) => (isOther(id) ? NaN : id)));
    expect(doublesOf(row.latest_step)).toEqual(ids.map((id) => (isOther(id) ? NaN : isMixed(id) ? 1 : 2)));
    expect(doublesOf(row.count)).toEqual(ids.map((id) => (isOther(id) ? 0 : isMixed(id) ? 1 : 2)));
    expect(doublesOf(row.variance)).toEqual(ids.map((id) => (isOther(id) ? NaN : 0)));
    expect(doublesOf(row.best_step)).toEqual(ids.map((id) => (isOther(id) ? NaN : 1)));
    expect(doublesOf(row.non_finite)).toEqual(
      ids.flatMap((id) => (isOther(id) ? [2, 2] : isMixed(id) ? [1, 2] : [0, 0])),
    );
  });

  test("metric_columns_v1 has no such numbers of a run without such values", async () => {
    const runId = await storeRun(2);
    const row = (await ingest.owner.one<ColumnsRow>(columns, [tenant.orgId, runId]))!;
    expect(row.non_finite).toBeNull();
  });

  const unindexed = testSql("SELECT sort_latest FROM ingest.unindexed_sort_values_v2($1, $3) WHERE run_id = $2");
  const index = testSql("SELECT ingest.index_sort_values($1, $2, '', 1000)");
  const ask = testSql(
    "INSERT INTO ingest.sort_keys (org_id, key, by, asked_at, boundary) VALUES ($1, $2, $3, now(), '1')",
  );
  const fill = testSql("SELECT outcome FROM ingest.fill_sort_key($1, $2, $3, 1000, 1)");
  const sorted = testSql("SELECT sort_best, sort_latest FROM ingest.metric_keys WHERE run_id = $1 ORDER BY key");

  test("a key without finite values has none to sort by", async () => {
    const runId = await storeRun(4);
    for (const [key, rows] of [
      ["k002", [{ sort_latest: 2 }]],
      ["k003", []],
    ] as const)
      expect(await ingest.owner.rows(unindexed, [tenant.orgId, runId, key])).toEqual(rows);
    for (const by of ["best", "latest"]) {
      await ingest.owner.rows(ask, [tenant.orgId, "k003", by]);
      expect(await ingest.owner.rows(fill, [tenant.orgId, "k003", by])).toEqual([{ outcome: "filled" }]);
    }
    const none = { sort_best: null, sort_latest: null };
    expect(await ingest.owner.rows(sorted, [runId])).toEqual([none, none, none, none]);
    await ingest.owner.rows(index, [tenant.orgId, runId]);
    const values = [0, 1, 2].map((id) => ({ sort_best: id, sort_latest: id }));
    expect(await ingest.owner.rows(sorted, [runId])).toEqual([...values, none]);
  });
});

test("chunk_is_finite finds the chunks whose values are all finite", async () => {
  const values = [1, -0, Number.MAX_VALUE, -Number.MAX_VALUE, 5e-324, NaN, Infinity, -Infinity];
  const { statistics } = encodeBlock(
    {
      keyIds: Uint32Array.from(values.keys()),
      steps: Float64Array.of(0),
      receivedUs: Float64Array.of(1),
      timestampsUs: new Float64Array(0),
      offsets: new Uint32Array(0),
      pointIndexes: new Uint32Array(0),
      values: Float64Array.from(values),
    },
    { firstKey: 0, width: 16, effort: "fast" },
  );
  expect(statistics).toHaveLength(values.length * CHUNK_STATISTICS_BYTES);
  const found = testSql(
    "SELECT array_agg(ingest.chunk_is_finite($1, s) ORDER BY s) AS found FROM generate_series(0, $2::integer) AS s",
  );
  const answer = await ingest.owner.one(found, [Buffer.from(statistics!), values.length - 1]);
  expect(answer).toEqual({ found: values.map(Number.isFinite) });
});
