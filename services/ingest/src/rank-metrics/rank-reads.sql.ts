import { binarySql, sql, type Tx } from "@tidemark/pg";
import type { ArrivedEntries } from "./rank-entries.rules.ts";

// A key is a row of every set that it was reported in, so this walks from key to key and not over all rows.
const listKeys = sql(
  "ingest_list_rank_keys",
  `WITH RECURSIVE listed (key, n) AS (
     (SELECT k.key, 1 FROM ingest.rank_metric_keys k
      WHERE k.org_id = $1 AND k.run_id = $2 ORDER BY k.key LIMIT 1)
     UNION ALL
     SELECT (SELECT k.key FROM ingest.rank_metric_keys k
             WHERE k.org_id = $1 AND k.run_id = $2 AND k.key > l.key ORDER BY k.key LIMIT 1), l.n + 1
     FROM listed l WHERE l.key IS NOT NULL AND l.n < $3
   )
   SELECT key FROM listed WHERE key IS NOT NULL`,
);

/** Returns the first keys of a run that ranks reported, by their UTF-8 bytes. */
export async function listRankKeys(tx: Tx, orgId: string, runId: string, keysMax: number): Promise<string[]> {
  const rows = await tx.rows<{ key: string }>(listKeys, [orgId, runId, keysMax]);
  return rows.map(({ key }) => key);
}

/** A set of keys that were reported together in a world of one size, and the slot of one of its keys. */
export type RankSet = {
  readonly setId: number;
  readonly slot: number;
  readonly worldSize: number;
  readonly isPage: boolean;
};

/** A run, and inclusive bounds of its steps. */
export type RankRange = {
  readonly orgId: string;
  readonly runId: string;
  readonly from: number;
  /** May be Infinity. */
  readonly to: number;
};

const setsOfKey = sql(
  "ingest_list_rank_sets_of_key",
  `SELECT set_id AS "setId", slot, world_size AS "worldSize", is_page AS "isPage"
   FROM ingest.rank_sets_of_key($1, $2, $3, $4, $5)`,
);

/** Returns the sets that have the key and a value of it in the range, by their numbers. */
export function listRankSets(tx: Tx, range: RankRange, key: string): Promise<RankSet[]> {
  return tx.rows(setsOfKey, [range.orgId, range.runId, key, range.from, range.to]);
}

const stepFloor = sql(
  "ingest_find_rank_step_floor",
  `SELECT ingest.rank_step_floor($1, $2, $3, $4, $5, $6, $7, $8) AS step`,
);

/**
 * Returns a step of the range from which the sets have at least `stepsMax` steps, or all their steps: close to the highest such step, but
 * perhaps below it.
 */
export async function findStepFloor(
  tx: Tx,
  range: RankRange,
  sets: readonly RankSet[],
  stepsMax: number,
): Promise<number> {
  const row = await tx.one<{ step: number }>(stepFloor, [
    range.orgId,
    range.runId,
    ...columnsOf(sets),
    range.from,
    range.to,
    stepsMax,
  ]);
  return row!.step;
}

const rankValues = binarySql(
  "ingest_read_rank_values",
  `SELECT index, steps, ranks, key_values AS "values", weights, received_us AS "receivedUs"
   FROM ingest.rank_values($1, $2, $3, $4, $5, $6, $7)`,
);

type ValueColumns = {
  readonly index: number;
  readonly steps: Buffer;
  readonly ranks: Buffer;
  readonly values: Buffer;
  readonly weights: Buffer;
  readonly receivedUs: Buffer;
};

/**
 * Returns the entries of the sets in the range, in parts. Each part is in order of step and rank; two parts may have entries of one rank and step.
 */
export async function readRankValues(tx: Tx, range: RankRange, sets: readonly RankSet[]): Promise<ArrivedEntries[]> {
  const { from, to } = range;
  const rows = await tx.rows<ValueColumns>(rankValues, [range.orgId, range.runId, ...columnsOf(sets), from, to]);
  return rows.map((row) => entriesOf(row, range, sets[row.index]!.worldSize));
}

function columnsOf(sets: readonly RankSet[]): [setIds: number[], slots: number[], pages: boolean[]] {
  return [sets.map(({ setId }) => setId), sets.map(({ slot }) => slot), sets.map(({ isPage }) => isPage)];
}

/** Returns the entries within the range: a block may begin before it and end after it. */
function entriesOf(columns: ValueColumns, { from, to }: RankRange, worldSize: number): ArrivedEntries {
  const steps = viewOf(columns.steps);
  const stepAt = (entry: number): number => steps.getFloat64(8 * entry);
  const all = columns.ranks.length / 2;
  const first = firstEntry(all, (entry) => stepAt(entry) >= from);
  const count = firstEntry(all, (entry) => stepAt(entry) > to) - first;
  const ranks = viewOf(columns.ranks);
  const values = viewOf(columns.values);
  const times = viewOf(columns.receivedUs);
  const entries = {
    steps: new Float64Array(count),
    ranks: new Uint16Array(count),
    worldSizes: new Uint16Array(count).fill(worldSize),
    values: new Float64Array(count),
    weights: weightsOf(columns.weights, first, count),
    receivedUs: new Float64Array(count),
  };
  for (let i = 0; i < count; i++) {
    const at = 8 * (first + i);
    entries.steps[i] = steps.getFloat64(at);
    entries.ranks[i] = ranks.getUint16(at / 4);
    entries.values[i] = values.getFloat64(at);
    entries.receivedUs[i] = times.getInt32(at) * 2 ** 32 + times.getUint32(at + 4);
  }
  return entries;
}

/** Returns the first of `count` entries for which the predicate holds, as it does for all later ones; `count` when it holds for none. */
function firstEntry(count: number, holds: (entry: number) => boolean): number {
  let from = 0;
  let to = count;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads weights. Each is stored as a byte 0, which stands for the weight 1, or as a byte 1 and the weight. */
function weightsOf(bytes: Buffer, first: number, count: number): Float64Array {
  const weights = new Float64Array(count).fill(1);
  let at = 0;
  for (let entry = 0; entry < first + count && at < bytes.length; entry++) {
    const isGiven = bytes[at] === 1;
    if (isGiven && entry >= first) weights[entry - first] = bytes.readDoubleBE(at + 1);
    at += isGiven ? 9 : 1;
  }
  return weights;
}
