import { POINTS_MAX, type PointsItem } from "./items.ts";
import type { Warnings } from "./warnings.ts";

/** Gathers points of a run, which formats write one after another, into columns of one key. */
export type PointBatches = {
  /** Adds a point. A point without a finite step is left out and counted. `time` in milliseconds since 1970, NaN: not known. */
  add(key: string, step: number, value: number, time?: number): void;
  /** Returns the columns that are full; all of them if there are many points altogether. */
  full(): PointsItem[];
  /** Returns the rest. */
  rest(): PointsItem[];
};

type Columns = { readonly steps: number[]; readonly values: number[]; readonly times: number[] };

/** Most points that are gathered, of all keys together. */
const GATHERED_MAX = 65_536;

/** Creates batches of the points of a run. */
export function createPointBatches(run: string, warnings: Warnings): PointBatches {
  const open = new Map<string, Columns>();
  let ready: PointsItem[] = [];
  let gathered = 0;
  const close = (key: string, { steps, values, times }: Columns): void => {
    open.delete(key);
    gathered -= steps.length;
    ready.push({
      kind: "points",
      run,
      key,
      steps: Float64Array.from(steps),
      values: Float64Array.from(values),
      ...(times.every(Number.isNaN) ? {} : { times: Float64Array.from(times) }),
    });
  };
  const closeAll = (): void => open.forEach((columns, key) => close(key, columns));
  const take = (): PointsItem[] => {
    const items = ready;
    ready = [];
    return items;
  };
  return {
    add(key, step, value, time = Number.NaN) {
      if (!Number.isFinite(step)) return warnings.add("malformed_value", `${key}: its step is not a number`);
      let columns = open.get(key);
      if (columns === undefined) open.set(key, (columns = { steps: [], values: [], times: [] }));
      columns.steps.push(step);
      columns.values.push(value);
      columns.times.push(Number.isFinite(time) ? time : Number.NaN);
      gathered += 1;
      if (columns.steps.length === POINTS_MAX) close(key, columns);
      else if (gathered >= GATHERED_MAX) closeAll();
    },
    full: take,
    rest() {
      closeAll();
      return take();
    },
  };
}
