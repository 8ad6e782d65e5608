import { testSql } from "@tidemark/testkit";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  AGGREGATE_NUMBERS,
  aggregatePageOf,
  AGGREGATES_PER_PAGE,
  aggregateStartOf,
  CHUNK_STATISTICS_BYTES,
  openBlock,
  encodeBlock,
  KEY_RANGE_WIDTHS,
  NUMBERS_PER_AGGREGATE,
  STATISTICS_WIDTH_MAX,
} from "@tidemark/codecs/metrics";
import { binarySql } from "@tidemark/pg";
import { readFacts } from "./read/metric-series.sql.ts";
import { blockAround, EDGES, storeBlock as storeBlockOf, valueOf, type AnyBlock } from "./stored-blocks.fixture.ts";
import { startIngest, type IngestFixture, type Tenant } from "../ingest.fixture.ts";

/*
 * One file, because it is the list of everything in SQL that repeats a size. SQL repeats sizes and positions that packages/codecs/src/metrics owns
 * (storage-layout.ts). Here every view and function that does is given rows that are laid out by the package, at the edges of pages and key ranges, and has to find in them what the package put there:
 *
 *   aggregate pages    keys of a page, numbers of an aggregate and their order: the view metric_aggregates_v1; the
 *                      functions metric_columns_v1, unindexed_sort_values_v2, index_sort_values, fill_sort_key, metric_run_states,
 *                      append_metric_group, key_points, key_first_step and key_last_step
 *   chunk statistics   bytes of one, where its count and its lowest value are, and its sum: chunk_values, chunk_is_finite, metric_reach, metric_series_page, metric_columns_page
 *   key ranges         widths and first keys: the constraint of metric_blocks; metric_chunks, metric_series_page, metric_columns_page,
 *                      metric_points_page, metric_reach and metric_block_tails
 *   block directories  bytes and form of an entry: metric_chunks, metric_series_page, metric_columns_page, metric_points_page
 *
 * The checks of metric_columns_page in columns/columns-page-layout.test.ts, and those of values that are not finite in non-finite-layout.test.ts, belong to
 * the list. SQL does not look into landing segments.
 */

let ingest: IngestFixture;
let tenant: Tenant;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

const NARROWEST = Math.min(...KEY_RANGE_WIDTHS);
const EVERYWHERE = [0, Infinity] as const;
const BYTES_MAX = 2 ** 30;
const storeBlock = (runId: string, block: AnyBlock): Promise<void> =>
  storeBlockOf(ingest.owner, tenant.orgId, runId, block);

const putRun = testSql(
  "INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count) VALUES ($1, $2, 1, $3, 0)",
);
const putKeys = testSql(`INSERT INTO ingest.metric_keys (org_id, run_id, key, key_id, minimise)
   SELECT $1, $2, k.key, k.id, k.id % 2 = 1 FROM unnest($3::text[], $4::integer[]) AS k (key, id)`);
const putPage = testSql(
  "INSERT INTO ingest.metric_aggregate_pages (org_id, run_id, page, stats) VALUES ($1, $2, $3, $4::float8[])",
);

const keyOf = (keyId: number): string => `k${String(keyId).padStart(5, "0")}`;

/** Stores a run with these keys, their aggregates laid out as the package says; gaps are filled with numbers that nothing should read. */
async function storeRun(
  keyIds: readonly number[],
  numberOf: (keyId: number, index: number) => number,
  nameOf: (keyId: number) => string = keyOf,
) {
  const runId = await ingest.newRun(tenant);
  const pages = new Map<number, number[]>();
  for (const keyId of keyIds) {
    const page = pages.get(aggregatePageOf(keyId)) ?? [];
    const start = aggregateStartOf(keyId);
    while (page.length < start) page.push(-1);
    for (let i = 0; i < NUMBERS_PER_AGGREGATE; i++) page[start + i] = numberOf(keyId, i);
    pages.set(aggregatePageOf(keyId), page);
  }
  await ingest.owner.rows(putRun, [tenant.orgId, runId, Math.max(...keyIds) + 1]);
  await ingest.owner.rows(putKeys, [tenant.orgId, runId, keyIds.map(nameOf), keyIds]);
  for (const [page, stats] of pages) await ingest.owner.rows(putPage, [tenant.orgId, runId, page, stats]);
  return runId;
}

describe("aggregate pages", () => {
  const keyIds = Array.from({ length: 2 * AGGREGATES_PER_PAGE + 2 }, (_, keyId) => keyId);
  const isMinimized = (keyId: number): boolean => keyId % 2 === 1;
  /** A number that identifies itself. */
  const markedNumber = (keyId: number, index: number): number => 100 * keyId + index + 1;
  const numberOf = (keyId: number, name: (typeof AGGREGATE_NUMBERS)[number]): number =>
    markedNumber(keyId, AGGREGATE_NUMBERS.indexOf(name));
  let runId: string;

  beforeAll(async () => {
    runId = await storeRun(keyIds, markedNumber);
  });

  const view =
    testSql(`SELECT key, count, min, max, mean, variance, latest, latest_step, best, best_step, first_step, last_step
     FROM ingest.metric_aggregates_v1 WHERE org_id = $1 AND run_id = $2 ORDER BY key`);

  test("metric_aggregates_v1 shows each number of each key", async () => {
    expect(await ingest.owner.rows(view, [tenant.orgId, runId])).toEqual(
      keyIds.map((keyId) => ({
        key: keyOf(keyId),
        count: numberOf(keyId, "count"),
        min: numberOf(keyId, "min"),
        max: numberOf(keyId, "max"),
        mean: numberOf(keyId, "mean"),
        variance: numberOf(keyId, "m2") / numberOf(keyId, "count"),
        latest: numberOf(keyId, "latest"),
        latest_step: numberOf(keyId, "latestStep"),
        best: numberOf(keyId, isMinimized(keyId) ? "min" : "max"),
        best_step: numberOf(keyId, isMinimized(keyId) ? "minStep" : "maxStep"),
        first_step: numberOf(keyId, "firstStep"),
        last_step: numberOf(keyId, "latestStep"),
      })),
    );
  });

  const columns = testSql(`SELECT keys, total, latest, min, max, mean, variance, count, best, best_step AS "bestStep"
     FROM ingest.metric_columns_v1($1, $2, '', NULL, $3, $4)`);
  type ColumnsRow = { keys: Buffer; total: number } & Record<(typeof COLUMNS)[number], Buffer>;
  const COLUMNS = ["latest", "min", "max", "mean", "variance", "count", "best", "bestStep"] as const;
  const doublesOf = (bytes: Buffer): number[] =>
    Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleBE(8 * i));
  const WIDE = 9 * AGGREGATES_PER_PAGE + 2;
  /** Neighbors in code point order are in different pages. */
  const scatteredName = (keyId: number): string => `${String(keyId % AGGREGATES_PER_PAGE).padStart(2, "0")}/${keyId}`;

  test.each([
    ["of one page", AGGREGATES_PER_PAGE, keyOf, 1000],
    ["of few keys in several pages", keyIds.length, keyOf, 1000],
    ["of many keys, neighbors in their pages", WIDE, keyOf, 2 * AGGREGATES_PER_PAGE],
    ["of many keys, neighbors in other pages", WIDE, scatteredName, 12],
  ])("metric_columns_v1 has the numbers of each key of a run %s", async (_case, keyCount, nameOf, keysMax) => {
    const ids = Array.from({ length: keyCount }, (_, keyId) => keyId);
    const run = await storeRun(ids, markedNumber, nameOf);
    const byName = new Map(ids.map((keyId) => [nameOf(keyId), keyId]));
    const names = [...byName.keys()].toSorted();
    const [, second] = names;
    const row = await ingest.owner.one<ColumnsRow>(columns, [tenant.orgId, run, second, keysMax]);
    const wanted = names.slice(2, 2 + keysMax);
    expect(row!.keys.toString("utf8").split("\0")).toEqual(wanted);
    expect(row!.total).toBe(keyCount);
    const numbersOf = (keyId: number) => {
      const best = isMinimized(keyId) ? "min" : "max";
      return {
        latest: numberOf(keyId, "latest"),
        min: numberOf(keyId, "min"),
        max: numberOf(keyId, "max"),
        mean: numberOf(keyId, "mean"),
        variance: numberOf(keyId, "m2") / numberOf(keyId, "count"),
        count: numberOf(keyId, "count"),
        best: numberOf(keyId, best),
        bestStep: numberOf(keyId, `${best}Step`),
      };
    };
    const numbers = wanted.map((key) => numbersOf(byName.get(key)!));
    for (const column of COLUMNS) {
      expect({ column, numbers: doublesOf(row![column]) }).toEqual({
        column,
        numbers: numbers.map((own) => own[column]),
      });
    }
  });

  const sortValues = keyIds.map((keyId) => ({
    key: keyOf(keyId),
    sort_best: isMinimized(keyId) ? -numberOf(keyId, "min") : numberOf(keyId, "max"),
    sort_latest: numberOf(keyId, "latest"),
  }));
  const putUnindexed = testSql("INSERT INTO ingest.unindexed_runs (org_id, run_id, touched_minute) VALUES ($1, $2, 0)");
  const indexSortValues = testSql("SELECT ingest.index_sort_values($1, $2, '', 1000)");
  const copiedRanks = testSql(
    "SELECT key, sort_best, sort_latest FROM ingest.metric_keys WHERE org_id = $1 AND run_id = $2 ORDER BY key",
  );

  const unindexedValuesOf = testSql(
    "SELECT $3 AS key, sort_best, sort_latest FROM ingest.unindexed_sort_values_v2($1, $3) WHERE run_id = $2",
  );

  test("unindexed_sort_values_v2 shows the best and the latest value of each key", async () => {
    await ingest.owner.rows(putUnindexed, [tenant.orgId, runId]);
    for (const expected of sortValues)
      expect(await ingest.owner.rows(unindexedValuesOf, [tenant.orgId, runId, expected.key])).toEqual([expected]);
  });

  const ask = testSql(
    "INSERT INTO ingest.sort_keys (org_id, key, by, asked_at, boundary) VALUES ($1, $2, $3, now(), '1')",
  );
  const fillStep = testSql("SELECT outcome FROM ingest.fill_sort_key($1, $2, $3, 1000, 1)");

  test.each(["best", "latest"])("fill_sort_key copies the %s value of each key", async (by) => {
    for (const { key } of sortValues) {
      await ingest.owner.rows(ask, [tenant.orgId, key, by]);
      expect(await ingest.owner.rows(fillStep, [tenant.orgId, key, by])).toEqual([{ outcome: "filled" }]);
    }
    const copied = sortValues.map((value) => (by === "best" ? { ...value, sort_latest: null } : value));
    expect(await ingest.owner.rows(copiedRanks, [tenant.orgId, runId])).toEqual(copied);
  });

  test("index_sort_values copies the best and the latest value of each key", async () => {
    await ingest.owner.rows(indexSortValues, [tenant.orgId, runId]);
    expect(await ingest.owner.rows(copiedRanks, [tenant.orgId, runId])).toEqual(sortValues);
  });

  const pagesOfKeys =
    testSql(`SELECT page FROM ingest.metric_run_states($1, ARRAY[$2::uuid], ARRAY[true], ARRAY[1], ARRAY[$3], '{}', '{}')
     WHERE page IS NOT NULL`);

  test.each([0, 31, 32, 63, 64, 65])("metric_run_states loads the page that key %i is in", async (keyId) => {
    expect(await ingest.owner.rows(pagesOfKeys, [tenant.orgId, runId, keyOf(keyId)])).toEqual([
      { page: aggregatePageOf(keyId) },
    ]);
  });

  const putStretch =
    testSql(`SELECT outcome FROM ingest.append_metric_group($1, 0, 0::smallint, ARRAY[ROW($2, 1, 1, $3, 0, 0)::ingest.metric_run_change],
       '{}', '{}', '{}', '{}', ARRAY[ROW($2, $4, $5, $6::float8[], '{}')::ingest.aggregate_page_change], '{}', '{}')`);
  const pageStats = testSql(
    "SELECT stats FROM ingest.metric_aggregate_pages WHERE org_id = $1 AND run_id = $2 AND page = $3",
  );

  test.each([
    ["its first key", 0, 1],
    ["keys in its middle", 5, 3],
    ["its last key", AGGREGATES_PER_PAGE - 1, 1],
    ["all of its keys", 0, AGGREGATES_PER_PAGE],
  ])("append_metric_group replaces of a full page %s and nothing else", async (_, slot, count) => {
    const stored = keyIds.slice(0, AGGREGATES_PER_PAGE);
    const changed = await storeRun(stored, markedNumber);
    const stats = Array.from({ length: count * NUMBERS_PER_AGGREGATE }, (_number, i) => -10 - i);
    const values = [tenant.orgId, changed, stored.length, 0, slot, stats];
    expect(await ingest.owner.rows(putStretch, values)).toEqual([{ outcome: "applied" }]);
    const expected = stored.flatMap((keyId) => AGGREGATE_NUMBERS.map((_name, i) => markedNumber(keyId, i)));
    expected.splice(slot * NUMBERS_PER_AGGREGATE, stats.length, ...stats);
    expect(await ingest.owner.rows(pageStats, [tenant.orgId, changed, 0])).toEqual([{ stats: expected }]);
  });

  const seriesRun =
    testSql(`SELECT section FROM ingest.metric_series_page($1, ARRAY[$2::uuid], $3, 0, 'Infinity', 10, NULL, 1, 1, -1, -1, 1000)
     WHERE kind = 'run'`);

  const facts = testSql("SELECT facts AS section FROM ingest.metric_facts($1, ARRAY[$2::uuid], $3)");

  test.each([
    ["metric_series_page", seriesRun],
    ["metric_facts", facts],
  ])("%s returns the count and the steps of each key", async (_name, statement) => {
    const keys = keyIds.map(keyOf);
    const [row] = await ingest.owner.rows<{ section: Buffer }>(statement, [tenant.orgId, runId, keys]);
    expect([...readFacts(row!.section)]).toEqual(
      keyIds.map((keyId, place) => {
        const [firstStep, lastStep] = [numberOf(keyId, "firstStep"), numberOf(keyId, "latestStep")];
        return [place, { keyId, count: numberOf(keyId, "count"), firstStep, lastStep }];
      }),
    );
  });

  const pointKeys =
    testSql(`SELECT key_id FROM ingest.metric_points_page($1, $2, '', $3, $4, $5, -1, -1, -1, 1000000, 1000, 1000000000, 1000000000)
     WHERE kind = 'key'`);
  const keysOfPoints = async (from: number, to: number, pointsMax: number): Promise<unknown[]> =>
    (await ingest.owner.rows<{ key_id: number }>(pointKeys, [tenant.orgId, runId, from, to, pointsMax])).map(
      ({ key_id }) => key_id,
    );

  test("metric_points_page reads the keys whose steps touch the range", async () => {
    for (const keyId of keyIds) {
      const [first, last] = [numberOf(keyId, "firstStep"), numberOf(keyId, "latestStep")];
      expect(await keysOfPoints(last, first, 1_000_000)).toEqual([keyId]);
      expect(await keysOfPoints(last + 1, first, 1_000_000)).toEqual([]);
      expect(await keysOfPoints(last, first - 1, 1_000_000)).toEqual([]);
    }
  });

  test("metric_points_page stops at the key whose count completes the points that are wanted", async () => {
    let wanted = 0;
    for (const [i, keyId] of keyIds.entries()) {
      expect(await keysOfPoints(...EVERYWHERE, wanted + 1)).toEqual(keyIds.slice(0, i + 1));
      wanted += numberOf(keyId, "count");
    }
  });
});

describe("key ranges", () => {
  test.each(KEY_RANGE_WIDTHS)("of %i keys may be stored", async (width) => {
    const runId = await ingest.newRun(tenant);
    for (const keyId of [0, width, 3 * width])
      await expect(storeBlock(runId, blockAround(keyId, width, 1, [0]))).resolves.toBeUndefined();
  });

  test.each([1, 8, 32, 128, 512, 1024, 2048, 8192, 65_536])("of %i keys may not be stored", async (width) => {
    const runId = await ingest.newRun(tenant);
    await expect(storeBlock(runId, blockAround(0, width, 1, [0]))).rejects.toThrow(
      'check constraint "metric_blocks_check"',
    );
  });

  test.each(KEY_RANGE_WIDTHS)("of %i keys may start at multiples of that only", async (width) => {
    const runId = await ingest.newRun(tenant);
    const block = { ...blockAround(0, width, 1, [0]), firstKey: width / 2 };
    await expect(storeBlock(runId, block)).rejects.toThrow('check constraint "metric_blocks_check"');
  });

  const tails = testSql("SELECT width FROM ingest.metric_block_tails($1, $2, ARRAY[0], $3)");

  test("of the smallest width are those whose sealed blocks metric_block_tails ends at", async () => {
    const runId = await ingest.newRun(tenant);
    const widths = KEY_RANGE_WIDTHS.toReversed();
    for (const [i, width] of widths.entries()) await storeBlock(runId, blockAround(0, width, 1 + i, [0, 1, 2]));
    const widthsOf = async (sealedPoints: number) =>
      (await ingest.owner.rows<{ width: number }>(tails, [tenant.orgId, runId, sealedPoints])).map(
        ({ width }) => width,
      );
    expect(await widthsOf(3)).toEqual(KEY_RANGE_WIDTHS.filter((width) => width !== NARROWEST));
    expect(await widthsOf(4)).toEqual([...KEY_RANGE_WIDTHS]);
  });
});

describe("blocks of a key", () => {
  type Part = { kind: string; steps: Buffer; times: Buffer | null; section: Buffer };
  type KeyBlocks = { readonly runId: string; readonly blocks: AnyBlock[] };

  /** Stores a run with a block of each width around the key, the narrowest first, at step 0; the key has `count` points by its aggregate. */
  async function storeKeyBlocks(keyId: number, count: number): Promise<KeyBlocks> {
    const runId = await storeRun([keyId], (_, index) => (AGGREGATE_NUMBERS[index] === "count" ? count : 0));
    const blocks = KEY_RANGE_WIDTHS.toReversed().map((width, i) => blockAround(keyId, width, 1 + i, [0]));
    for (const block of blocks) await storeBlock(runId, block);
    return { runId, blocks };
  }

  const valuesOf = (parts: readonly Part[]): number[][] =>
    parts.map((part) => [...openBlock(part)(part.section).values]);
  const valuesIn = (keyId: number, { blocks }: KeyBlocks): number[][] => blocks.map(({ seq }) => [valueOf(keyId, seq)]);

  const chunks = binarySql(
    "test_layout_chunks",
    "SELECT steps, times, section FROM ingest.metric_chunks($1, $2, $3, 0, 'Infinity', -1, $4)",
  );

  test.each(EDGES)("metric_chunks finds key %i in blocks of all widths", async (keyId) => {
    const stored = await storeKeyBlocks(keyId, 3);
    const parts = await ingest.owner.rows<Part>(chunks, [tenant.orgId, stored.runId, keyId, BYTES_MAX]);
    expect(valuesOf(parts)).toEqual(valuesIn(keyId, stored));
  });

  const series = binarySql(
    "test_layout_series",
    `SELECT kind, steps, times, section
     FROM ingest.metric_series_page($1, ARRAY[$2::uuid], ARRAY[$3], 0, 'Infinity', $4, $5, 1, 1, -1, -1, $6) WHERE kind <> 'run'`,
  );
  const seriesOf = (runId: string, keyId: number, pointsMax: number, buckets: number | null): Promise<Part[]> =>
    ingest.owner.rows<Part>(series, [tenant.orgId, runId, keyOf(keyId), pointsMax, buckets, BYTES_MAX]);

  test.each(EDGES)("metric_series_page finds key %i in blocks of all widths", async (keyId) => {
    const stored = await storeKeyBlocks(keyId, 3);
    const parts = await seriesOf(stored.runId, keyId, 10, null);
    expect(parts.map(({ kind }) => kind)).toEqual(stored.blocks.map(() => "chunk"));
    expect(valuesOf(parts)).toEqual(valuesIn(keyId, stored));
  });

  test.each(EDGES)("metric_series_page takes the statistics of key %i where a block has some", async (keyId) => {
    const stored = await storeKeyBlocks(keyId, 1000);
    const parts = await seriesOf(stored.runId, keyId, 10, 4);
    expect(parts.map(({ kind }) => kind)).toEqual(
      stored.blocks.map(({ width }) => (width <= STATISTICS_WIDTH_MAX ? "statistics" : "chunk")),
    );
    const { block, firstKey } = stored.blocks[0]!;
    const at = CHUNK_STATISTICS_BYTES * (keyId - firstKey);
    expect([...parts[0]!.section]).toEqual([...block.statistics!.subarray(at, at + CHUNK_STATISTICS_BYTES)]);
    expect(valuesOf(parts.slice(1))).toEqual(valuesIn(keyId, stored).slice(1));
  });

  const points = binarySql(
    "test_layout_points",
    `SELECT kind, steps, times, keys, section
     FROM ingest.metric_points_page($1, $2, '', 0, 'Infinity', 1000, -1, -1, -1, $3, 10, 1000000, $4) WHERE kind IN ('block', 'chunk')`,
  );
  const pointsOf = (runId: string, shortMax: number): Promise<(Part & { keys: Buffer | null })[]> =>
    ingest.owner.rows(points, [tenant.orgId, runId, BYTES_MAX, shortMax]);

  test.each(EDGES)("metric_points_page finds key %i in blocks of all widths", async (keyId) => {
    const stored = await storeKeyBlocks(keyId, 3);
    const ofShortKey = await pointsOf(stored.runId, 1000);
    expect(
      ofShortKey.map(({ kind, keys, section }) => [kind, keys!.readInt32BE(0), keys!.readInt32BE(4) - section.length]),
    ).toEqual(stored.blocks.map(() => ["block", keyId, 0]));
    expect(valuesOf(ofShortKey)).toEqual(valuesIn(keyId, stored));
    const ofLongKey = await pointsOf(stored.runId, 2);
    expect(ofLongKey.map(({ kind }) => kind)).toEqual(stored.blocks.map(() => "chunk"));
    expect(valuesOf(ofLongKey)).toEqual(valuesIn(keyId, stored));
  });
});

describe("chunk statistics", () => {
  const chunkValues = testSql("SELECT ingest.chunk_values($1, $2) AS count");

  test("chunk_values reads the count of each key of a key range", async () => {
    const keyIds = Uint32Array.from({ length: STATISTICS_WIDTH_MAX }, (_, i) => i);
    // The key at index k is at the first k + 1 points.
    const offsets = [0];
    for (const keyId of keyIds) offsets.push(offsets.at(-1)! + keyId + 1);
    const { statistics } = encodeBlock(
      {
        keyIds,
        steps: Float64Array.from(keyIds),
        receivedUs: new Float64Array(keyIds.length),
        timestampsUs: new Float64Array(0),
        offsets: Uint32Array.from(offsets),
        pointIndexes: Uint32Array.from([...keyIds].flatMap((keyId) => [...keyIds.subarray(0, keyId + 1)])),
        values: new Float64Array(offsets.at(-1)!).fill(-1.5),
      },
      { firstKey: 0, width: STATISTICS_WIDTH_MAX, effort: "fast" },
    );
    for (const keyId of keyIds) {
      const end = CHUNK_STATISTICS_BYTES * (keyId + 1);
      expect(await ingest.owner.rows(chunkValues, [statistics, keyId])).toEqual([{ count: keyId + 1 }]);
      expect(await ingest.owner.rows(chunkValues, [statistics!.subarray(0, end), keyId])).toEqual([
        { count: keyId + 1 },
      ]);
      expect(await ingest.owner.rows(chunkValues, [statistics!.subarray(0, end - 1), keyId])).toEqual([{ count: 0 }]);
    }
  });

  const reach = testSql("SELECT ingest.metric_reach($1, $2, $3, 0, 'Infinity', $4) AS step");

  test.each(EDGES)("metric_reach counts the values of key %i in the blocks that have statistics", async (keyId) => {
    const runId = await ingest.newRun(tenant);
    await storeBlock(runId, blockAround(keyId, NARROWEST, 1, [0, 1, 2]));
    await storeBlock(runId, blockAround(keyId, NARROWEST, 2, [3, 4, 5]));
    for (const [i, width] of KEY_RANGE_WIDTHS.filter((one) => one !== NARROWEST).entries())
      await storeBlock(runId, blockAround(keyId, width, 3 + i, [0, 0, 0]));
    const reached = async (wanted: number) =>
      (await ingest.owner.one<{ step: number }>(reach, [tenant.orgId, runId, keyId, wanted]))!.step;
    expect([await reached(3), await reached(4), await reached(6), await reached(7)]).toEqual([2, 5, 5, Infinity]);
  });
});
