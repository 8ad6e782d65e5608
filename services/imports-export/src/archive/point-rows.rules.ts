import { pick, type PointColumns } from "./point-columns.rules.ts";

/** Rows of points in columns: item i of each column is about row i. Times are whole microseconds since the Unix epoch. */
export type PointRows = {
  readonly runIds: string[];
  readonly runNames: string[];
  readonly keys: string[];
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** Null if the client sent no time. */
  readonly timestampsUs: (bigint | null)[];
  readonly createdUs: bigint[];
};

/** Returns the points of some columns as rows, at most `rowsMax` at a time, key by key in the order of arrival. */
export function* pointRows(
  columns: PointColumns,
  runName: string,
  rowsMax: number,
): Generator<PointRows, void, undefined> {
  for (const [i, { values, points }] of columns.series.entries()) {
    const steps = pick(columns.steps, points);
    const createdUs = pick(columns.createdUs, points);
    const timestampsUs = columns.timestampsUs && pick(columns.timestampsUs, points);
    for (let from = 0; from < values.length; from += rowsMax) {
      const to = Math.min(from + rowsMax, values.length);
      const same = (text: string): string[] => Array.from({ length: to - from }, () => text);
      yield {
        runIds: same(columns.runId),
        runNames: same(runName),
        keys: same(columns.keys[i]!),
        steps: steps.subarray(from, to),
        values: values.subarray(from, to),
        timestampsUs:
          timestampsUs === undefined
            ? Array.from({ length: to - from }, () => null)
            : Array.from(timestampsUs.subarray(from, to), (us) => (Number.isNaN(us) ? null : BigInt(us))),
        createdUs: Array.from(createdUs.subarray(from, to), BigInt),
      };
    }
  }
}

/** Joins rows. */
export function joinRows(parts: readonly PointRows[]): PointRows {
  const numbers = (column: "steps" | "values"): Float64Array => {
    const joined = new Float64Array(parts.reduce((sum, { values }) => sum + values.length, 0));
    let at = 0;
    for (const part of parts) {
      joined.set(part[column], at);
      at += part[column].length;
    }
    return joined;
  };
  return {
    runIds: parts.flatMap(({ runIds }) => runIds),
    runNames: parts.flatMap(({ runNames }) => runNames),
    keys: parts.flatMap(({ keys }) => keys),
    steps: numbers("steps"),
    values: numbers("values"),
    timestampsUs: parts.flatMap(({ timestampsUs }) => timestampsUs),
    createdUs: parts.flatMap(({ createdUs }) => createdUs),
  };
}
