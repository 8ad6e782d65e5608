import { codecError } from "../../bytes.ts";
import type { MetricColumns } from "./metric-columns.ts";
import { sortKeys } from "./keys.ts";

/** Options of {@link createColumnsBuilder}. */
export type ColumnsBuilderOptions = {
  /**
   * Called once for every spelling of a key in the batch; returns the key to store, for instance the trimmed one. Resolving a key to store must
   * return the same key. `addPoint` passes on what this throws. Without it keys are stored as they are.
   */
  readonly resolveKey?: (key: string) => string;
  /** Reads a value that is not a finite number; undefined makes it faulty. Without it, all such values are. */
  readonly readOther?: (sent: unknown) => number | undefined;
};

/** Collects the points of one batch, as parsed from JSON, into {@link MetricColumns}. */
export type ColumnsBuilder = {
  /**
   * Adds one point and returns how many values it has: its distinct stored keys (of several spellings of one key the last wins). Returns 0 for
   * an object without keys, which adds no point, and -1 if a value is neither a finite number nor read by `readOther`: `faultyKey` then returns its key as it was sent, and
   * the batch cannot be built. `step` must be finite and not negative; `timestampUs` is in whole microseconds since the Unix epoch, or null.
   */
  addPoint(metrics: Readonly<Record<string, unknown>>, step: number, timestampUs: number | null): number;
  /** Returns the key whose value made `addPoint` return -1, or null. */
  faultyKey(): string | null;
  /** Return the points and the values so far. */
  pointCount(): number;
  valueCount(): number;
  /** Returns the columns of all points. Throws a CodecError if a point was faulty. */
  build(): MetricColumns;
};

const EMPTY_U32 = new Uint32Array(0);
const EMPTY_F64 = new Float64Array(0);

/**
 * Creates a builder for one batch. Neighboring points usually have the same keys in the same order, so a point's keys are first compared with those
 * of the point before it and looked up only where they differ.
 */
export function createColumnsBuilder(options: ColumnsBuilderOptions = {}): ColumnsBuilder {
  const { resolveKey, readOther = () => undefined } = options;
  const keys: string[] = [];
  /** The index of every key, by the key itself and by each spelling of it seen so far. */
  const indexOfSpelling = new Map<string, number>();
  /** Per key, the index of its newest value in `values`. */
  const newestAt: number[] = [];

  // Values in the order of arrival, point by point; `build` makes columns of them.
  const values: number[] = [];
  const keyIndexes: number[] = [];
  const pointEnds: number[] = [];
  const steps: number[] = [];
  const times: number[] = [];
  let timesKnown = 0;
  let previousNames: readonly string[] = [];
  let previousIndexes: readonly number[] = [];
  let faulty: string | null = null;

  const indexOf = (name: string): number => {
    const known = indexOfSpelling.get(name);
    if (known !== undefined) return known;
    const key = resolveKey === undefined ? name : resolveKey(name);
    let index = key === name ? undefined : indexOfSpelling.get(key);
    if (index === undefined) {
      index = keys.push(key) - 1;
      newestAt.push(-1);
      indexOfSpelling.set(key, index);
    }
    if (key !== name) indexOfSpelling.set(name, index);
    return index;
  };

  const addPoint: ColumnsBuilder["addPoint"] = (metrics, step, timestampUs) => {
    const names = Object.keys(metrics);
    const start = values.length;
    let indexes: number[] | null = null;
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!;
      let value = metrics[name];
      if (typeof value !== "number" || value - value !== 0) {
        value = readOther(value);
        if (value === undefined) {
          faulty = name;
          return -1;
        }
      }
      let index: number;
      if (indexes === null && previousNames[i] === name) index = previousIndexes[i]!;
      else {
        indexes ??= previousIndexes.slice(0, i);
        index = indexOf(name);
        indexes.push(index);
      }
      const at = newestAt[index]!;
      if (at >= start) values[at] = value as number;
      else {
        newestAt[index] = values.push(value as number) - 1;
        keyIndexes.push(index);
      }
    }
    if (indexes !== null) {
      previousNames = names;
      previousIndexes = indexes;
    }
    const added = values.length - start;
    if (added === 0) return 0;
    pointEnds.push(values.length);
    steps.push(step);
    times.push(timestampUs ?? Number.NaN);
    if (timestampUs !== null) timesKnown++;
    return added;
  };

  const build = (): MetricColumns => {
    if (faulty !== null) throw codecError("the batch holds a faulty value");
    const sorted = sortKeys([...keys]);
    const rank = new Uint32Array(keys.length);
    sorted.forEach((key, i) => (rank[indexOfSpelling.get(key)!] = i));
    const points = steps.length;
    const dense = values.length === keys.length * points;
    return {
      keys: sorted,
      steps: Float64Array.from(steps),
      timestampsUs: timesKnown === 0 ? EMPTY_F64 : Float64Array.from(times),
      ...(dense ? groupDense(values, keyIndexes, pointEnds, rank) : groupSparse(values, keyIndexes, pointEnds, rank)),
    };
  };

  return {
    addPoint,
    faultyKey: () => faulty,
    pointCount: () => steps.length,
    valueCount: () => values.length,
    build,
  };
}

type Grouped = Pick<MetricColumns, "values" | "offsets" | "pointIndexes">;

/** Groups by key where every point has every key once: value of key k at point p goes to k * points + p. */
function groupDense(values: number[], keyIndexes: number[], pointEnds: number[], rank: Uint32Array): Grouped {
  const points = pointEnds.length;
  const grouped = new Float64Array(values.length);
  let i = 0;
  for (let point = 0; point < points; point++) {
    for (const end = pointEnds[point]!; i < end; i++) grouped[rank[keyIndexes[i]!]! * points + point] = values[i]!;
  }
  return { values: grouped, offsets: EMPTY_U32, pointIndexes: EMPTY_U32 };
}

/** Groups by key with one counting sort, which keeps the order of the points. */
function groupSparse(values: number[], keyIndexes: number[], pointEnds: number[], rank: Uint32Array): Grouped {
  const offsets = new Uint32Array(rank.length + 1);
  for (let i = 0; i < values.length; i++) offsets[rank[keyIndexes[i]!]! + 1]! += 1;
  for (let key = 1; key < offsets.length; key++) offsets[key]! += offsets[key - 1]!;
  const next = offsets.slice(0, rank.length);
  const grouped = new Float64Array(values.length);
  const pointIndexes = new Uint32Array(values.length);
  let i = 0;
  for (let point = 0; point < pointEnds.length; point++) {
    for (const end = pointEnds[point]!; i < end; i++) {
      const key = rank[keyIndexes[i]!]!;
      const at = next[key]!;
      next[key] = at + 1;
      grouped[at] = values[i]!;
      pointIndexes[at] = point;
    }
  }
  return { values: grouped, offsets, pointIndexes };
}
