/** Values that ranks reported for one key, as columns of one length. */
export type RankEntries = {
  readonly steps: Float64Array;
  readonly ranks: Uint16Array;
  readonly worldSizes: Uint16Array;
  readonly values: Float64Array;
  readonly weights: Float64Array;
};

/** Entries with the time of their arrival in microseconds since the Unix epoch. */
export type ArrivedEntries = RankEntries & { readonly receivedUs: Float64Array };

/** Returns the newest entry of each (step, rank), by step and then by rank. Of several entries that arrived in one moment, the last is the newest. */
export function newestEntries(entries: ArrivedEntries): ArrivedEntries {
  return isAscending(entries) ? entries : pickEntries(entries, newestIndexes(entries));
}

/**
 * Returns the indexes of the newest entries, by step and rank. It sorts only the steps, and then the ranks of each step, so it costs little more
 * than reading.
 */
function newestIndexes({ steps, ranks, receivedUs }: ArrivedEntries): Uint32Array {
  const { byStep, groupEnds } = groupBySteps(steps);
  const newest = new Uint32Array(steps.length);
  let found = 0;
  /** By rank, the index of the newest entry of the current group, plus 1. */
  const ofRank = new Uint32Array(2 ** 16);
  let from = 0;
  for (const to of groupEnds) {
    const ranksOfGroup: number[] = [];
    for (let i = from; i < to; i++) {
      const index = byStep[i]!;
      const rank = ranks[index]!;
      const before = ofRank[rank]!;
      if (before === 0) ranksOfGroup.push(rank);
      if (before === 0 || receivedUs[index]! >= receivedUs[before - 1]!) ofRank[rank] = index + 1;
    }
    for (const rank of ranksOfGroup.sort((a, b) => a - b)) {
      newest[found++] = ofRank[rank]! - 1;
      ofRank[rank] = 0;
    }
    from = to;
  }
  return newest.subarray(0, found);
}

/** Returns the indexes of the entries by step, in their order within a step, and where in that list each step ends. */
function groupBySteps(steps: Float64Array): { byStep: Uint32Array; groupEnds: Uint32Array } {
  const sorted = Float64Array.from(steps).sort();
  const different = sorted.filter((step, i) => i === 0 || step !== sorted[i - 1]);
  const groupOf = new Map(Array.from(different, (step, group) => [step, group]));
  const groups = Uint32Array.from(steps, (step) => groupOf.get(step)!);
  const ends = new Uint32Array(different.length);
  for (const group of groups) ends[group]!++;
  for (let group = 1; group < ends.length; group++) ends[group]! += ends[group - 1]!;
  const byStep = new Uint32Array(steps.length);
  const free = Uint32Array.from(ends);
  for (let index = steps.length - 1; index >= 0; index--) byStep[--free[groups[index]!]!] = index;
  return { byStep, groupEnds: ends };
}

function pickEntries(entries: ArrivedEntries, indexes: Uint32Array): ArrivedEntries {
  const picked = emptyEntries(indexes.length);
  indexes.forEach((index, i) => {
    picked.steps[i] = entries.steps[index]!;
    picked.ranks[i] = entries.ranks[index]!;
    picked.worldSizes[i] = entries.worldSizes[index]!;
    picked.values[i] = entries.values[index]!;
    picked.weights[i] = entries.weights[index]!;
    picked.receivedUs[i] = entries.receivedUs[index]!;
  });
  return picked;
}

/** Returns columns for `count` entries, all zeros. */
export function emptyEntries(count: number): ArrivedEntries {
  return {
    steps: new Float64Array(count),
    ranks: new Uint16Array(count),
    worldSizes: new Uint16Array(count),
    values: new Float64Array(count),
    weights: new Float64Array(count),
    receivedUs: new Float64Array(count),
  };
}

/** Returns whether the entries are already in order and without repeats, like the entries of one set. */
function isAscending({ steps, ranks }: RankEntries): boolean {
  for (let i = 1; i < steps.length; i++) {
    const isNext = steps[i]! > steps[i - 1]! || (steps[i] === steps[i - 1] && ranks[i]! > ranks[i - 1]!);
    if (!isNext) return false;
  }
  return true;
}

/** Returns the entries of the newest `stepsMax` steps from entries that are in order; the columns share memory with the given ones. */
export function newestSteps(entries: RankEntries, stepsMax: number): RankEntries {
  const { steps, ranks, worldSizes, values, weights } = entries;
  let from = steps.length;
  for (let left = stepsMax; left > 0 && from > 0; left--) {
    const step = steps[from - 1]!;
    while (from > 0 && steps[from - 1] === step) from--;
  }
  return {
    steps: steps.subarray(from),
    ranks: ranks.subarray(from),
    worldSizes: worldSizes.subarray(from),
    values: values.subarray(from),
    weights: weights.subarray(from),
  };
}

/** Joins several columns, one after the other. */
export function joinEntries(parts: readonly ArrivedEntries[]): ArrivedEntries {
  if (parts.length === 1) return parts[0]!;
  const length = parts.reduce((sum, { steps }) => sum + steps.length, 0);
  const joined = emptyEntries(length);
  let at = 0;
  for (const part of parts) {
    joined.steps.set(part.steps, at);
    joined.ranks.set(part.ranks, at);
    joined.worldSizes.set(part.worldSizes, at);
    joined.values.set(part.values, at);
    joined.weights.set(part.weights, at);
    joined.receivedUs.set(part.receivedUs, at);
    at += part.steps.length;
  }
  return joined;
}
