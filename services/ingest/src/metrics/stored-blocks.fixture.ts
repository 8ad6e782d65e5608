import { testSql } from "@tidemark/testkit";
import { encodeBlock } from "@tidemark/codecs/metrics";
import { type Db } from "@tidemark/pg";

const putBlock =
  testSql(`INSERT INTO ingest.metric_blocks (org_id, run_id, first_key, width, first_seq, last_seq, first_step, last_step, points,
     value_count, steps_end, axis_end, statistics, sums, data)
   VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`);

const firstKeyOf = (keyId: number, width: number): number => keyId - (keyId % width);
/** A value that identifies its key and its block. */
export const valueOf = (keyId: number, seq: number): number => keyId + seq / 8;

/** Encodes a block of the key range of `width` keys around a key: at each step a value of this key, its neighbors and the outermost keys. */
export function blockAround(keyId: number, width: number, seq: number, steps: readonly number[]) {
  const firstKey = firstKeyOf(keyId, width);
  const keyIds = [firstKey, keyId - 1, keyId, keyId + 1, firstKey + width - 1]
    .filter((id, i, all) => id >= firstKey && id < firstKey + width && all.indexOf(id) === i)
    .sort((a, b) => a - b);
  const block = encodeBlock(
    {
      keyIds: Uint32Array.from(keyIds),
      steps: Float64Array.from(steps),
      receivedUs: new Float64Array(steps.length).fill(seq),
      timestampsUs: new Float64Array(0),
      offsets: new Uint32Array(0),
      pointIndexes: new Uint32Array(0),
      values: Float64Array.from(keyIds.flatMap((id) => steps.map(() => valueOf(id, seq)))),
    },
    { firstKey, width, effort: "fast" },
  );
  return { firstKey, width, seq, block };
}

/** Stores a block of a run as the owner of the database. */
export async function storeBlock(
  owner: Db,
  orgId: string,
  runId: string,
  { firstKey, width, seq, block }: AnyBlock,
): Promise<void> {
  const { firstStep, lastStep, points, valueCount, stepsEnd, axisEnd, statistics, sums, data } = block;
  const ranges = [firstKey, width, seq, firstStep, lastStep, points, valueCount, stepsEnd, axisEnd];
  await owner.rows(putBlock, [orgId, runId, ...ranges, statistics, sums, data]);
}

/** A block with its place in storage. */
export type AnyBlock = ReturnType<typeof blockAround>;

/** Keys at the edges of key ranges. */
export const EDGES = [0, 1, 14, 15, 16, 17, 255, 256, 271, 4094, 4095, 4096, 4111, 8191, 8192];
