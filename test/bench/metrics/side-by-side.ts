import type { Mode } from "../../stack/stack.ts";
import { openBenchStack } from "../bench-stack.ts";
import type { BenchPostgres } from "../fresh-postgres.ts";
import { interleave, type Comparison } from "./compare-stores.ts";
import type { History, MetricStore, Timing } from "./metric-store.ts";
import { seriesValues, valueTape } from "./metric-values.ts";
import { mlflowStore } from "./mlflow-store.ts";
import { oursOverHttp } from "./ours-over-http.ts";
import { copiedRows, seriesRows, trackerRows } from "./row-designs.ts";
import { rowPerPoint } from "./row-per-point.ts";
import { storeAlone } from "./store-alone.ts";
import { compareTimes, type TimesCostSize } from "./times-cost.ts";
import { describeLoad, keyNames, type WriteLoad } from "./write-load.ts";

/** What the others are compared with. */
export const oursName = "ours over HTTP";

/** Bytes per point of a store. */
export type BytesPerPoint = { readonly store: string; readonly bytes: number };

/** The stores, each on its own database in one PostgreSQL, ready to be compared. */
export type SideBySide = {
  readonly mlflow: MetricStore | undefined;
  writes(load: WriteLoad, among?: readonly string[]): Promise<Comparison>;
  /** Ours with client times and without them. */
  times(load: WriteLoad, size: TimesCostSize): Promise<Comparison>;
  /** Reads of the first `limit` of `points` points of one run. */
  readonly reads: (points: number, limit: number) => Promise<Comparison>;
  /** By how much the tables grow with 20 keys of 1,000 noisy values in `runs` runs, for MLflow a tenth of them. Call it first. */
  bytesPerPoint(runs: number): Promise<BytesPerPoint[]>;
};

/** The name of a read of `limit` of `points` points. */
export function describeRead(points: number, limit: number): string {
  const what = limit < points ? `first ${limit.toLocaleString("en-US")} of` : "all";
  return `read ${what} ${points.toLocaleString("en-US")} points of 1 run, 1 at a time`;
}

const BYTES_KEYS = 20;
const BYTES_STEPS = 1000;

/** Starts the stores, hands them out and ends them. */
export async function withStores(
  postgres: BenchPostgres,
  options: { readonly mode: Mode; readonly rounds: number; readonly timing: Timing; readonly reduced: boolean },
  use: (sideBySide: SideBySide) => Promise<void>,
): Promise<void> {
  const tape = valueTape();
  const stores: MetricStore[] = [];
  const { timing, rounds, reduced, mode } = options;
  const database = (what: string): Promise<string> => postgres.database(`bench_${what}_${mode}`);
  try {
    const bench = await openBenchStack(postgres, mode, `bench_ours_${mode}`);
    stores.push(oursOverHttp(bench, tape));
    if (!reduced) stores.push(storeAlone(bench));
    const rows = await database("rows");
    for (const design of reduced ? [trackerRows, seriesRows] : [trackerRows, seriesRows, copiedRows]) {
      stores.push(await rowPerPoint(rows, design, tape));
    }
    const mlflow = await mlflowStore(await database("mlflow"), postgres.directory, tape);
    if (mlflow !== undefined) stores.push(mlflow);

    const withReads = stores.filter(({ read, fill }) => read !== undefined && fill !== undefined);
    await use({
      mlflow,
      async writes(load, among) {
        const chosen = stores.filter((store) => store.takes(load) && (among?.includes(store.name) ?? true));
        const trials = await interleave(chosen, {
          rounds,
          postgresPid: postgres.pid,
          load: async (store) => {
            const run = await store.prepare(load);
            return () => run(timing);
          },
        });
        return { name: describeLoad(load), scalars: load.points * load.keys, trials };
      },
      times: (load, size) => compareTimes(bench, tape, load, size),
      async reads(points, limit) {
        const key = keyNames(1)[0]!;
        const history: History = { runs: 1, keys: [key], series: [seriesValues("noisy", points, 7)] };
        const runOf = new Map<string, string>();
        for (const store of withReads) {
          runOf.set(store.name, (await store.fill!(history))[0]!);
          await store.settle();
        }
        const trials = await interleave(withReads, {
          rounds,
          postgresPid: postgres.pid,
          load: (store) =>
            Promise.resolve(() => store.read!({ run: runOf.get(store.name)!, key, points, limit }, timing)),
        });
        return { name: describeRead(points, limit), scalars: Math.min(points, limit), trials };
      },
      async bytesPerPoint(runs) {
        const keys = keyNames(BYTES_KEYS);
        const series = keys.map((_key, seed) => seriesValues("noisy", BYTES_STEPS, seed + 1));
        const found: BytesPerPoint[] = [];
        for (const store of stores.filter(({ fill }) => fill !== undefined)) {
          // Tables and indexes have pages even when they are empty.
          const empty = await store.bytes!();
          // It takes its time, and more of the same would not change what a point takes.
          const filled = store === mlflow ? Math.max(1, Math.round(runs / 10)) : runs;
          await store.fill!({ runs: filled, keys, series });
          await store.settle();
          const bytes = ((await store.bytes!()) - empty) / (filled * BYTES_KEYS * BYTES_STEPS);
          found.push({ store: store.name, bytes });
        }
        return found;
      },
    });
  } finally {
    for (const store of stores.toReversed()) await store.close();
  }
}
