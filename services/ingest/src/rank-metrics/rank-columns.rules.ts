import { isGap, VALUE_BYTES } from "./rank-values.rules.ts";

/** Entries of a set, packed as columns in network order: the values of slot 0, then of slot 1 and so on. */
export type PackedRankEntries = {
  readonly entries: number;
  readonly steps: Buffer;
  readonly ranks: Buffer;
  readonly localRanks: Buffer;
  /** A byte 0 for weight 1, or a byte 1 and the weight. */
  readonly weights: Buffer;
  readonly receivedUs: Buffer;
  /** The lowest integer where the client sent no time. */
  readonly sentUs: Buffer;
  readonly values: Buffer;
};

/** An entry of a set that no block has yet; its values begin at the slot `firstSlot`. */
export type RankRow = {
  readonly step: number;
  readonly rank: number;
  readonly arrival: number;
  readonly localRank: number;
  readonly weight: number;
  readonly receivedUs: number;
  /** NaN where the client sent no time. */
  readonly sentUs: number;
  readonly firstSlot: number;
  readonly packed: Buffer;
};

/** What ranks reported for a key, as columns of one length. */
export type RankColumns = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  readonly ranks: Float64Array;
  readonly localRanks: Float64Array;
  readonly weights: Float64Array;
  readonly createdUs: Float64Array;
  /** NaN where the client sent no time. */
  readonly timestampsUs: Float64Array;
};

type Axis = Omit<RankColumns, "values">;

const WORD = 2 ** 32;
const NO_TIME_HIGH = -(2 ** 31);

/** Returns the columns of each slot in a block, without the gaps. */
export function columnsOfBlock(block: PackedRankEntries, slots: number): RankColumns[] {
  const axis = axisOfBlock(block);
  return Array.from({ length: slots }, (_, slot) => {
    const at = VALUE_BYTES * block.entries * slot;
    return withoutGaps(axis, (i) => ({ bytes: block.values, at: at + VALUE_BYTES * i }));
  });
}

/** Returns the columns of each slot in rows. */
export function columnsOfRows(rows: readonly RankRow[], slots: number): RankColumns[] {
  const column = (of: (row: RankRow) => number): Float64Array => Float64Array.from(rows, of);
  const axis: Axis = {
    steps: column(({ step }) => step),
    ranks: column(({ rank }) => rank),
    localRanks: column(({ localRank }) => localRank),
    weights: column(({ weight }) => weight),
    createdUs: column(({ receivedUs }) => receivedUs),
    timestampsUs: column(({ sentUs }) => sentUs),
  };
  return Array.from({ length: slots }, (_, slot) => {
    return withoutGaps(axis, (i) => {
      const { firstSlot, packed } = rows[i]!;
      return { bytes: packed, at: VALUE_BYTES * (slot - firstSlot) };
    });
  });
}

function axisOfBlock({ entries, steps, ranks, localRanks, weights, receivedUs, sentUs }: PackedRankEntries): Axis {
  const column = (of: (entry: number) => number): Float64Array =>
    Float64Array.from({ length: entries }, (_, entry) => of(entry));
  const timeOf = (times: Buffer, entry: number): number =>
    times.readInt32BE(8 * entry) * WORD + times.readUInt32BE(8 * entry + 4);
  let at = 0;
  return {
    steps: column((entry) => steps.readDoubleBE(8 * entry)),
    ranks: column((entry) => ranks.readInt16BE(2 * entry)),
    localRanks: column((entry) => localRanks.readInt16BE(2 * entry)),
    weights: column(() => {
      const isGiven = weights[at] === 1;
      const weight = isGiven ? weights.readDoubleBE(at + 1) : 1;
      at += isGiven ? 9 : 1;
      return weight;
    }),
    createdUs: column((entry) => timeOf(receivedUs, entry)),
    timestampsUs: column((entry) =>
      sentUs.readInt32BE(8 * entry) === NO_TIME_HIGH ? Number.NaN : timeOf(sentUs, entry),
    ),
  };
}

/** Returns the entries that have a value. `placeOf` says where that of an entry is: nowhere outside of the bytes, as of keys that a page got later. */
function withoutGaps(axis: Axis, placeOf: (entry: number) => { bytes: Buffer; at: number }): RankColumns {
  const entries: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < axis.steps.length; i++) {
    const { bytes, at } = placeOf(i);
    if (at < 0 || at >= bytes.length || isGap(bytes, at)) continue;
    entries.push(i);
    values.push(bytes.readDoubleBE(at));
  }
  const all = { ...axis, values: Float64Array.from(values) };
  if (entries.length === axis.steps.length) return all;
  const there = (column: Float64Array): Float64Array => Float64Array.from(entries, (i) => column[i]!);
  return {
    steps: there(axis.steps),
    values: all.values,
    ranks: there(axis.ranks),
    localRanks: there(axis.localRanks),
    weights: there(axis.weights),
    createdUs: there(axis.createdUs),
    timestampsUs: there(axis.timestampsUs),
  };
}
