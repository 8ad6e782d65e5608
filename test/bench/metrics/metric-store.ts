import type { LoopResult } from "../closed-loop.ts";
import type { WriteLoad } from "./write-load.ts";

/** How long a case is measured, in seconds. */
export type Timing = { readonly warmUp: number; readonly seconds: number };

/** Series to store once: `series[k]` holds the values of key k from step 0 on, the same in every run. */
export type History = {
  readonly runs: number;
  readonly keys: readonly string[];
  readonly series: readonly Float64Array[];
};

/** What to read: the first `limit` points of the only key of the run that `fill` returned. */
export type ReadLoad = { readonly run: string; readonly key: string; readonly points: number; readonly limit: number };

/** One of the stores that are compared, on its own database of the same PostgreSQL. */
export type MetricStore = {
  readonly name: string;
  /** Where its CPU time goes, PostgreSQL aside. */
  readonly servers: readonly number[];
  readonly clients: readonly number[];
  /** Whether it has a write of this shape; 1,000 values a request is the most for some. */
  readonly takes: (load: WriteLoad) => boolean;
  /** Makes new runs for a load; the returned function writes to them for a while. */
  readonly prepare: (load: WriteLoad) => Promise<(timing: Timing) => Promise<LoopResult>>;
  /** Resolves when what was written is in the form in which it stays. */
  readonly settle: () => Promise<void>;
  /** Stores a history; returns the names of its runs. Absent where another store shares its database. */
  readonly fill?: (history: History) => Promise<string[]>;
  /** Reads again and again, one at a time, and checks the number of points. */
  readonly read?: (load: ReadLoad, timing: Timing) => Promise<LoopResult>;
  /** Bytes of the tables that hold metrics, with their indexes and what belongs to them. */
  readonly bytes?: () => Promise<number>;
  readonly close: () => Promise<void>;
};
