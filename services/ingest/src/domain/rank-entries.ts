/** What ranks reported for one key, as columns of one length. */
export type RankEntries = {
  readonly steps: Float64Array;
  readonly ranks: Uint16Array;
  readonly worldSizes: Uint16Array;
  readonly values: Float64Array;
  readonly weights: Float64Array;
};

/** Entries with the time of their arrival in microseconds since the Unix epoch. */
export type ArrivedEntries = RankEntries & { readonly receivedUs: Float64Array };

/**
 * The newest entry of each (step, rank), by step and then by rank. Of several of one moment it is the
 * last in the order given.
 */
export function newestEntries(entries: ArrivedEntries): ArrivedEntries {
  return isAscending(entries) ? entries : pickEntries(entries, newestPlaces(entries));
}

/** Where the newest entries are, by step and rank. Only the steps are sorted, and then the ranks of each, so it takes little more than reading. */
function newestPlaces({ steps, ranks, receivedUs }: ArrivedEntries): Uint32Array {
  const { byStep, groupEnds } = groupBySteps(steps);
  const newest = new Uint32Array(steps.length);
  let found = 0;
  /** By rank, the place of the newest entry of the group in hand, plus 1. */
  const ofRank = new Uint32Array(2 ** 16);
  let from = 0;
  for (const to of groupEnds) {
    const ranksOfGroup: number[] = [];
    for (let i = from; i < to; i++) {
      const place = byStep[i]!;
      const rank = ranks[place]!;
      const before = ofRank[rank]!;
      if (before === 0) ranksOfGroup.push(rank);
      if (before === 0 || receivedUs[place]! >= receivedUs[before - 1]!) ofRank[rank] = place + 1;
    }
    for (const rank of ranksOfGroup.sort((a, b) => a - b)) {
      newest[found++] = ofRank[rank]! - 1;
      ofRank[rank] = 0;
    }
    from = to;
  }
  return newest.subarray(0, found);
}

/** The places of the entries by step, those of one step in the order given, and where in that each step ends. */
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
  for (let place = steps.length - 1; place >= 0; place--) byStep[--free[groups[place]!]!] = place;
  return { byStep, groupEnds: ends };
}

function pickEntries(entries: ArrivedEntries, places: Uint32Array): ArrivedEntries {
  const picked = emptyEntries(places.length);
  places.forEach((place, i) => {
    picked.steps[i] = entries.steps[place]!;
    picked.ranks[i] = entries.ranks[place]!;
    picked.worldSizes[i] = entries.worldSizes[place]!;
    picked.values[i] = entries.values[place]!;
    picked.weights[i] = entries.weights[place]!;
    picked.receivedUs[i] = entries.receivedUs[place]!;
  });
  return picked;
}

/** Columns for so many entries, all zeros. */
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

/** In order and without repeats already, as the entries of one set are. */
function isAscending({ steps, ranks }: RankEntries): boolean {
  for (let i = 1; i < steps.length; i++) {
    const isNext = steps[i]! > steps[i - 1]! || (steps[i] === steps[i - 1] && ranks[i]! > ranks[i - 1]!);
    if (!isNext) return false;
  }
  return true;
}

/** The entries of the newest steps, so many of them at most, from entries that are in order; they share memory with these. */
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

/** Several columns one after the other. */
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
