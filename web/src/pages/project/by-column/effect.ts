/** The runs that have one value of a parameter, by their metric. */
export type ValueGroup = {
  readonly value: string;
  readonly runs: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
};

/** How much the values of a parameter that is not a number say about a metric. */
export type Effect = {
  /** Runs that have both. */
  readonly runs: number;
  /** 0 to 1: the square root of epsilon squared of the ranks (Kruskal and Wallis), which many values do not raise by chance. */
  readonly effect: number;
  /** By value, those of most runs first. */
  readonly groups: readonly ValueGroup[];
};

/** Returns how texts and booleans separate the numbers of a metric, in the order of the runs; undefined where fewer than two values differ, or each run has its own. */
export function categoryEffect(values: readonly unknown[], metric: readonly (number | null)[]): Effect | undefined {
  const known = values.flatMap((value, i) => {
    const y = metric[i];
    const isCategory = typeof value === "string" || typeof value === "boolean";
    return isCategory && typeof y === "number" && Number.isFinite(y) ? [{ value: String(value), y }] : [];
  });
  const ranks = ranksOf(known.map(({ y }) => y));
  const byValue = Map.groupBy(
    known.map((one, i) => ({ ...one, rank: ranks[i]! })),
    ({ value }) => value,
  );
  const [n, k] = [known.length, byValue.size];
  if (k < 2 || k >= n) return undefined;
  const middle = (n + 1) / 2;
  const all = ranks.reduce((sum, rank) => sum + (rank - middle) ** 2, 0);
  const between = [...byValue.values()].reduce(
    (sum, group) => sum + group.length * (meanOf(group.map(({ rank }) => rank)) - middle) ** 2,
    0,
  );
  const epsilon = all === 0 ? 0 : 1 - ((1 - between / all) * (n - 1)) / (n - k);
  const groups = [...byValue].map(([value, group]): ValueGroup => {
    const ys = group.map(({ y }) => y);
    return { value, runs: ys.length, mean: meanOf(ys), min: least(ys), max: -least(ys.map((y) => -y)) };
  });
  return {
    runs: n,
    effect: Math.sqrt(Math.max(0, epsilon)),
    groups: groups.toSorted((a, b) => b.runs - a.runs || (a.value < b.value ? -1 : 1)),
  };
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value / values.length, 0);
const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Infinity);

/** Returns the rank of each value, from 1 on; equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): readonly number[] {
  const order = values.map((_, i) => i).toSorted((a, b) => values[a]! - values[b]!);
  const ranks = values.map(() => 0);
  for (let from = 0; from < order.length;) {
    let end = from + 1;
    while (end < order.length && values[order[end]!] === values[order[from]!]) end += 1;
    for (let i = from; i < end; i += 1) ranks[order[i]!] = (from + 1 + end) / 2;
    from = end;
  }
  return ranks;
}
