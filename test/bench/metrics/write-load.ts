import { TAPE_LENGTH } from "./metric-values.ts";

/** Writes of one shape to a number of runs, each continuing its run. */
export type WriteLoad = {
  readonly runs: number;
  /** Steps per write; 1 is what a training loop sends, 500 what a queue sends. */
  readonly points: number;
  readonly keys: number;
  readonly concurrency: number;
};

/** One write. Value `p * keys + k` of the tape from `tapeFrom` on is that of point p and key k. */
export type MetricWrite = {
  /** 0 to runs - 1. */
  readonly run: number;
  readonly firstStep: number;
  readonly tapeFrom: number;
};

/** Bodies of batches are put together from this many pieces; more than a block of one key holds of the same run. */
const DISTINCT_BATCHES = 9;

/** After how many writes to a run their values recur. */
export function distinctWrites({ points, keys }: WriteLoad): number {
  const fitting = Math.floor(TAPE_LENGTH / (points * keys));
  return points === 1 ? fitting : Math.min(DISTINCT_BATCHES, fitting);
}

/** The write of this number, the same for every store. */
export function writeAt(load: WriteLoad, index: number): MetricWrite {
  const { runs, points, keys } = load;
  const run = index % runs;
  const turn = Math.floor(index / runs);
  return { run, firstStep: turn * points, tapeFrom: ((run * 7 + turn) % distinctWrites(load)) * points * keys };
}

/** The places of the tape that batches of this shape take their values from; none for single steps, which are all different. */
export function recurringPlaces(load: WriteLoad): ReadonlySet<number> {
  if (load.points === 1) return new Set();
  return new Set(Array.from({ length: load.runs * DISTINCT_BATCHES }, (_, index) => writeAt(load, index).tapeFrom));
}

const STEP_KEYS = ["eval/accuracy", "eval/loss", "lr", "train/accuracy", "train/grad_norm", "train/loss"];

/** Names of `count` keys, sorted by their bytes. */
export function keyNames(count: number): readonly string[] {
  if (count === STEP_KEYS.length) return STEP_KEYS;
  const digits = String(count - 1).length;
  return Array.from({ length: count }, (_, key) => `layer/${String(key).padStart(digits, "0")}/grad_norm`);
}

/** How a load is called in a table, with what it must be told apart by. A concurrency of 0 is none that is fixed. */
export function describeLoad({ runs, points, keys, concurrency }: WriteLoad): string {
  const what = points === 1 ? `single step x ${keys} keys` : `${points} points x ${keys} keys`;
  return `${what}, ${runs} ${runs === 1 ? "run" : "runs"} of 1 organization${concurrency === 0 ? "" : `, ${concurrency} at a time`}`;
}
