import {
  blockColumnsOfSegment,
  concatColumns,
  countValues,
  decodeSegment,
  type BlockColumns,
} from "@tidemark/metric-codec";
import type { Db } from "@tidemark/pg";
import type { StripeRules } from "../domain/metric-stripes.ts";
import { findMetricKeyIds } from "../store/find-metric-key-ids.ts";
import type { RunOfOrg, WaitingMetricRow } from "../store/list-waiting-metric-rows.ts";
import type { MetricPart } from "./spread-metrics.ts";

/** Parts are so small a share of a block that what is cut between them is nearly full. */
const PART_SHARE = 1 / 8;

/** The points of landing rows, which follow one another, in parts that will not be cut by points. `db` runs as the worker. @throws CodecError when a row is damaged */
export async function readLandedMetrics(
  db: Db,
  run: RunOfOrg,
  rules: StripeRules,
  rows: readonly WaitingMetricRow[],
  turn: () => Promise<void>,
): Promise<MetricPart[]> {
  const keyIds = new Map<string, number>();
  const idOf = (key: string): number => {
    const id = keyIds.get(key);
    if (id === undefined) throw new Error("a key that has landed has no id");
    return id;
  };
  const parts: MetricPart[] = [];
  let open: { firstSeq: number; columns: BlockColumns[]; points: number; values: number } | undefined;
  const close = (lastSeq: number): void => {
    if (open !== undefined) parts.push({ firstSeq: open.firstSeq, lastSeq, columns: concatColumns(open.columns) });
    open = undefined;
  };
  let before = 0;
  for (const { id, receivedUs, points } of rows) {
    const landing = decodeSegment(points);
    const unknown = landing.keys?.filter((key) => !keyIds.has(key)) ?? [];
    if (unknown.length > 0) for (const [key, keyId] of await findMetricKeyIds(db, run, unknown)) keyIds.set(key, keyId);
    const columns = blockColumnsOfSegment(landing, receivedUs, idOf);
    const full = (open?.points ?? 0) + columns.steps.length > PART_SHARE * rules.pointsMax;
    if (full || (open?.values ?? 0) + countValues(columns) > rules.valuesMax) close(before);
    open ??= { firstSeq: id, columns: [], points: 0, values: 0 };
    open.columns.push(columns);
    open.points += columns.steps.length;
    open.values += countValues(columns);
    before = id;
    await turn();
  }
  close(before);
  return parts;
}
