import { testSql } from "@tidemark/testkit";
import {
  blockColumnsOfSegment,
  createColumnsBuilder,
  decodeBlock,
  decodeSegment,
  encodeSegment,
  type BlockColumns,
} from "@tidemark/codecs/metrics";
import { binarySql, type Db } from "@tidemark/pg";
import type { RunOfOrg } from "./metric-blocks.sql.ts";

/** A point as a test writes it; the client's time in microseconds, or null. */
export type SegmentPoint = {
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly timestampUs: number | null;
};

/** A run whose landing segments are written by hand, without the service. */
export type HandWrittenRun = RunOfOrg & {
  /** Writes one segment with its dirty marker and returns its seq. */
  land(points: readonly SegmentPoint[]): Promise<number>;
  /** Returns the points of the run, from a plain list. */
  model(): ReadonlyMap<string, readonly string[]>;
  /** Returns the points of both tiers, in one snapshot. */
  stored(): Promise<ReadonlyMap<string, readonly string[]>>;
};

const putKey = testSql(
  `INSERT INTO ingest.metric_keys (org_id, run_id, key, key_id, minimise) VALUES ($1, $2, $3, $4, false)`,
);
const putRow =
  testSql(`INSERT INTO ingest.metric_segments (org_id, run_id, id, received_us, first_step, last_step, points)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`);
const putMarker = testSql(
  `INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at) VALUES ($1, 'metrics', $2, '', $3, now())`,
);
const readTiers = binarySql(
  "test_read_metric_tiers",
  `SELECT 'block' AS tier, b.first_seq AS seq, b.first_key AS "firstKey", 0 AS received, b.data
   FROM ingest.metric_blocks b WHERE b.run_id = $1
   UNION ALL
   SELECT 'segment', l.id, 0, l.received_us, l.points FROM ingest.metric_segments l WHERE l.run_id = $1
   ORDER BY tier, seq, "firstKey"`,
);
type TierRow = { tier: "block" | "segment"; seq: number; received: number; data: Uint8Array };

/** Creates a run without points. `owner` sees the rows of all organizations. */
export function createHandWrittenRun(owner: Db, run: RunOfOrg): HandWrittenRun {
  const keyIds = new Map<string, number>();
  const written = new Map<string, string[]>();
  let seq = 0;

  const numberKeys = async (keys: readonly string[]): Promise<void> => {
    for (const key of keys) {
      if (keyIds.has(key)) continue;
      keyIds.set(key, keyIds.size);
      await owner.rows(putKey, [run.orgId, run.runId, key, keyIds.get(key)]);
    }
  };

  return {
    ...run,
    async land(points) {
      const builder = createColumnsBuilder({ readOther: (value) => value as number });
      for (const { step, metrics, timestampUs } of points) builder.addPoint(metrics, step, timestampUs);
      const columns = builder.build();
      await numberKeys(columns.keys);
      seq += 1;
      const receivedUs = 1_700_000_000_000_000 + seq * 1000;
      const ids = Uint32Array.from(columns.keys, (key) => keyIds.get(key)!);
      const block = encodeSegment(columns, ids);
      const steps = points.map(({ step }) => step);
      const range = [Math.min(...steps), Math.max(...steps)];
      await owner.rows(putRow, [run.orgId, run.runId, seq, receivedUs, ...range, block]);
      await owner.rows(putMarker, [run.orgId, run.runId, seq]);
      collect(written, blockColumnsOfSegment(decodeSegment(block), receivedUs));
      return seq;
    },
    model: () => written,
    async stored() {
      const found = new Map<string, string[]>();
      for (const { tier, received, data } of await owner.rows<TierRow>(readTiers, [run.runId])) {
        if (tier === "block") collect(found, decodeBlock(data));
        else collect(found, blockColumnsOfSegment(decodeSegment(data), received));
      }
      return found;
    },
  };
}

/** Adds the values of each key one by one. */
function collect(into: Map<string, string[]>, columns: BlockColumns): void {
  const { keyIds, steps, receivedUs, timestampsUs, offsets, pointIndexes, values } = columns;
  keyIds.forEach((keyId, index) => {
    const dense = offsets.length === 0;
    const from = dense ? index * steps.length : offsets[index]!;
    const to = dense ? from + steps.length : offsets[index + 1]!;
    const series = into.get(String(keyId)) ?? [];
    into.set(String(keyId), series);
    for (let i = from; i < to; i++) {
      const point = dense ? i - from : pointIndexes[i]!;
      const sent = timestampsUs.length === 0 || Number.isNaN(timestampsUs[point]!) ? "-" : timestampsUs[point]!;
      series.push(`${steps[point]!} ${Object.is(values[i], -0) ? "-0" : values[i]!} ${receivedUs[point]!} ${sent}`);
    }
  });
}
