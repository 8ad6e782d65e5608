import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  CHUNK_STATISTICS_BYTES,
  CHUNK_SUM_BYTES,
  KEY_RANGE_WIDTHS,
  openBlock,
  STATISTICS_WIDTH_MAX,
} from "@tidemark/codecs/metrics";
import { binarySql } from "@tidemark/pg";
import { startIngest, type IngestFixture, type Tenant } from "../../ingest.fixture.ts";
import { blockAround, EDGES, storeBlock, valueOf, type AnyBlock } from "../stored-blocks.fixture.ts";

// metric_columns_page repeats sizes and positions that packages/codecs/src/metrics owns: see storage-layout.test.ts.

let ingest: IngestFixture;
let tenant: Tenant;

beforeAll(async () => {
  ingest = await startIngest();
  tenant = await ingest.newTenant();
});
afterAll(() => ingest.close());

const BYTES_MAX = 2 ** 30;

type Part = { kind: string; steps: Buffer; times: Buffer | null; section: Buffer };
type KeyBlocks = { runId: string; blocks: readonly AnyBlock[] };

/** Stores a run with these blocks. */
async function storeBlocks(blocks: readonly AnyBlock[]): Promise<KeyBlocks> {
  const runId = await ingest.newRun(tenant);
  for (const block of blocks) await storeBlock(ingest.owner, tenant.orgId, runId, block);
  return { runId, blocks };
}

/** Stores a run with a block of each width around the key, the narrowest first, at step 0. */
const storeKeyBlocks = (keyId: number): Promise<KeyBlocks> =>
  storeBlocks(KEY_RANGE_WIDTHS.toReversed().map((width, i) => blockAround(keyId, width, 1 + i, [0])));

const valuesOf = (parts: readonly Part[]): number[][] => parts.map((part) => [...openBlock(part)(part.section).values]);
const valuesIn = (keyId: number, { blocks }: KeyBlocks): number[][] => blocks.map(({ seq }) => [valueOf(keyId, seq)]);

const columns = binarySql(
  "test_layout_columns_page",
  `SELECT kind, steps, times, section
   FROM ingest.metric_columns_page($1, ARRAY[$2::uuid], ARRAY['Infinity'::float8], ARRAY[1], ARRAY[$3::integer],
     ARRAY[0::float8], ARRAY[$4::float8], ARRAY[$5::integer], ARRAY[$6::float8], ARRAY[1000::float8], $6, 4, NULL, $7, 1, 1, -1, -1, $8)`,
);
const columnsOf = (runId: string, keyId: number, mode: number, from = 0, withEdges = false): Promise<Part[]> =>
  ingest.owner.rows<Part>(columns, [tenant.orgId, runId, keyId, 1000, mode, from, withEdges, BYTES_MAX]);

test.each(EDGES)("metric_columns_page finds key %i in blocks of all widths", async (keyId) => {
  const stored = await storeKeyBlocks(keyId);
  for (const mode of [0, 1]) {
    const parts = await columnsOf(stored.runId, keyId, mode);
    expect(parts.map(({ kind, times }) => [kind, times === null])).toEqual(
      stored.blocks.map(() => ["chunk", mode === 0]),
    );
    expect(valuesOf(parts)).toEqual(valuesIn(keyId, stored));
  }
});

test.each(EDGES)("metric_columns_page takes statistics and sum of key %i where a block has some", async (keyId) => {
  const stored = await storeKeyBlocks(keyId);
  const parts = await columnsOf(stored.runId, keyId, 2);
  expect(parts.map(({ kind }) => kind)).toEqual(
    stored.blocks.map(({ width }) => (width <= STATISTICS_WIDTH_MAX ? "statistics" : "chunk")),
  );
  const { block, firstKey } = stored.blocks[0]!;
  const slot = keyId - firstKey;
  const at = CHUNK_STATISTICS_BYTES * slot;
  expect([...parts[0]!.section]).toEqual([
    ...block.statistics!.subarray(at, at + CHUNK_STATISTICS_BYTES),
    ...block.sums!.subarray(CHUNK_SUM_BYTES * slot, CHUNK_SUM_BYTES * (slot + 1)),
  ]);
});

test.each(EDGES)(
  "metric_columns_page finds the last block of key %i before the bounds by its statistics",
  async (keyId) => {
    const { runId } = await storeBlocks(
      [
        [1, 2],
        [30, 40],
        [8, 9],
      ].map((steps, i) => blockAround(keyId, STATISTICS_WIDTH_MAX, i + 1, steps)),
    );
    expect(await columnsOf(runId, keyId, 0, 1000)).toEqual([]);
    const edge = await columnsOf(runId, keyId, 0, 1000, true);
    expect(edge.map(({ kind }) => kind)).toEqual(["chunk"]);
    expect(valuesOf(edge)).toEqual([[valueOf(keyId, 2), valueOf(keyId, 2)]]);
  },
);
