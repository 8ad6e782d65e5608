import { binarySql, sql, type Tx } from "@tidemark/pg";
import type { ArrivedEntries } from "../domain/rank-entries.ts";

/** Where a key of a run is stored: keys that were reported together, in a world of one size. */
export type RankSet = {
  readonly setId: number;
  readonly slot: number;
  readonly worldSize: number;
  readonly isPage: boolean;
};

/** A run, and inclusive bounds of its steps. */
export type StepRange = {
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

/** The sets that have the key and a value of it in the range, by their numbers. */
export function listRankSets(tx: Tx, range: StepRange, key: string): Promise<RankSet[]> {
  return tx.rows(setsOfKey, [range.orgId, range.runId, key, range.from, range.to]);
}

const stepFloor = sql(
  "ingest_find_rank_step_floor",
  `SELECT ingest.rank_step_floor($1, $2, $3, $4, $5, $6, $7, $8) AS step`,
);

/** A step of the range from which on the sets have at least `stepsMax` steps, or all of them: close to the highest such, but perhaps below it. */
export async function findStepFloor(
  tx: Tx,
  range: StepRange,
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
  `SELECT place, steps, ranks, key_values AS "values", weights, received_us AS "receivedUs"
   FROM ingest.rank_values($1, $2, $3, $4, $5, $6, $7)`,
);

type ValueColumns = {
  readonly place: number;
  readonly steps: Buffer;
  readonly ranks: Buffer;
  readonly values: Buffer;
  readonly weights: Buffer;
  readonly receivedUs: Buffer;
};

/** What the sets have in the range: parts that are each in order of step and rank. Two of them may have entries for one rank and step. */
export async function readRankValues(tx: Tx, range: StepRange, sets: readonly RankSet[]): Promise<ArrivedEntries[]> {
  const { from, to } = range;
  const rows = await tx.rows<ValueColumns>(rankValues, [range.orgId, range.runId, ...columnsOf(sets), from, to]);
  return rows.map((row) => entriesOf(row, range, sets[row.place]!.worldSize));
}

function columnsOf(sets: readonly RankSet[]): [setIds: number[], slots: number[], pages: boolean[]] {
  return [sets.map(({ setId }) => setId), sets.map(({ slot }) => slot), sets.map(({ isPage }) => isPage)];
}

/** The entries between the steps: a block may begin before them and end behind them. */
function entriesOf(columns: ValueColumns, { from, to }: StepRange, worldSize: number): ArrivedEntries {
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

/** The first of so many entries for which it holds, as it does for all behind; their number when there is none. */
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

/** Each is a byte 0, which stands for 1, or a byte 1 and the weight. */
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
