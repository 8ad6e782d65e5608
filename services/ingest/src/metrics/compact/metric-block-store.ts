import type { Db } from "@tidemark/pg";
import type { Claim } from "../../compaction/compaction-work.sql.ts";
import {
  sealedPoints,
  type MetricBlockChange,
  type MetricBlockFacts,
  type KeyRangeRules,
  keyRangeOf,
  type Span,
  type KeyRangeWidth,
} from "./key-ranges.rules.ts";
import {
  listMetricBlockTails,
  readMetricBlocks,
  replaceMetricBlocks,
  type RunOfOrg,
  type MetricSegment,
} from "./metric-blocks.sql.ts";
import {
  blockColumnsOfSegment,
  concatColumns,
  countValues,
  decodeSegment,
  sliceKeys,
  type BlockColumns,
} from "@tidemark/codecs/metrics";

/** The blocks of one run's metrics, as a compactor sees them. */
export type MetricBlockStore = {
  /** Returns the blocks with these first keys, of all widths: for each key, the blocks newer than its last sealed block. */
  tails(firstKeys: readonly number[]): Promise<MetricBlockFacts[]>;
  /** Returns the encoded contents of blocks, in the order of the blocks. */
  read(blocks: readonly MetricBlockFacts[]): Promise<Uint8Array[]>;
  /** Makes the whole change or none of it. Returns false when another process now has the work. */
  replace(change: MetricBlockChange): Promise<boolean>;
};

/** Returns the store of a run's metric blocks in the database, for the holder of the claim. `db` runs as the worker. */
export function openMetricBlocks(db: Db, run: RunOfOrg, rules: KeyRangeRules, claim: Claim): MetricBlockStore {
  return {
    tails: (firstKeys) => listMetricBlockTails(db, run, firstKeys, sealedPoints(rules)),
    read: (blocks) => readMetricBlocks(db, run, blocks),
    replace: (change) => replaceMetricBlocks(db, run, claim, change),
  };
}

/** Points of landing segments that follow one another. */
export type MetricPart = Span & { readonly columns: BlockColumns };

/** The share of a block that a part has at most: small, so that blocks that are cut between parts are nearly full. */
const PART_SHARE = 1 / 8;

/**
 * Returns the points of landing segments, which follow one another, in parts that will not be cut by points.
 * @throws CodecError for a damaged segment
 */
export async function readSegments(
  rules: KeyRangeRules,
  segments: readonly MetricSegment[],
  giveTurn: () => Promise<void>,
): Promise<MetricPart[]> {
  const parts: MetricPart[] = [];
  let open: { firstSeq: number; columns: BlockColumns[]; points: number; values: number } | undefined;
  const close = (lastSeq: number): void => {
    if (open !== undefined) parts.push({ firstSeq: open.firstSeq, lastSeq, columns: concatColumns(open.columns) });
    open = undefined;
  };
  let before = 0;
  for (const { id, receivedUs, points } of segments) {
    const columns = blockColumnsOfSegment(decodeSegment(points), receivedUs);
    const full = (open?.points ?? 0) + columns.steps.length > PART_SHARE * rules.pointsMax;
    if (full || (open?.values ?? 0) + countValues(columns) > rules.valuesMax) close(before);
    open ??= { firstSeq: id, columns: [], points: 0, values: 0 };
    open.columns.push(columns);
    open.points += columns.steps.length;
    open.values += countValues(columns);
    before = id;
    await giveTurn();
  }
  close(before);
  return parts;
}

/** Appends to each key range of this width its share of the parts. */
export async function spreadParts(
  parts: readonly MetricPart[],
  width: KeyRangeWidth,
  coming: Map<number, MetricPart[]>,
  giveTurn: () => Promise<void>,
): Promise<void> {
  for (const part of parts) {
    const { keyIds } = part.columns;
    for (let at = 0; at < keyIds.length;) {
      const { firstKey } = keyRangeOf(keyIds[at]!, width);
      const columns = sliceKeys(part.columns, firstKey, firstKey + width)!;
      const already = coming.get(firstKey);
      if (already === undefined) coming.set(firstKey, [{ ...part, columns }]);
      else already.push({ ...part, columns });
      at += columns.keyIds.length;
      await giveTurn();
    }
  }
}

/** Returns the first keys of the key ranges of this width that hold keys of the parts. */
export function firstKeysOf(width: KeyRangeWidth, parts: readonly MetricPart[]): ReadonlySet<number> {
  const firstKeys = new Set<number>();
  for (const { columns } of parts) {
    let before = -1;
    for (const keyId of columns.keyIds) {
      const { firstKey } = keyRangeOf(keyId, width);
      if (firstKey !== before) firstKeys.add(firstKey);
      before = firstKey;
    }
  }
  return firstKeys;
}
