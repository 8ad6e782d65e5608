import type { LoopResult } from "../closed-loop.ts";
import { shown, tableHead, tableRow } from "../markdown-table.ts";
import { spreadOf, type Spread } from "../percentiles.ts";
import { cpuBetween, readCoreTime, readCpu, type CpuReading } from "../processes.ts";
import type { MetricStore } from "./metric-store.ts";

/** One store measured once in one case. */
export type Trial = {
  readonly store: string;
  readonly result: LoopResult;
  /** CPU seconds of the whole load, its warm-up and what had to be compacted after it included. */
  readonly cpu: CpuReading;
  /** Share of the machine's time that its host gave to others meanwhile. */
  readonly stolen: number;
};

/** A case in which stores are compared. */
export type Comparison = {
  readonly name: string;
  /** Values that one request writes or reads. */
  readonly scalars: number;
  readonly trials: readonly Trial[];
};

/** A store's trials of a case as one. CPU is microseconds per request. */
export type Summary = {
  readonly store: string;
  readonly rate: Spread;
  readonly p50: number;
  readonly p95: number;
  readonly cpu: CpuReading;
  readonly cpuPerMillion: number;
  readonly errors: number;
  readonly firstError: string | undefined;
};

/** A trial of which the host took more than this is repeated, at most `REPEATS` times. */
const STOLEN_MAX = 0.05;
const REPEATS = 2;

async function measureOnce(store: MetricStore, postgresPid: number, load: () => Promise<LoopResult>): Promise<Trial> {
  const sides = { server: store.servers, database: postgresPid, clients: store.clients };
  const time = await readCoreTime();
  const before = await readCpu(sides);
  const result = await load();
  await store.settle();
  const cpu = cpuBetween(before, await readCpu(sides));
  const { total, stolen } = await readCoreTime();
  return { store: store.name, result, cpu, stolen: (stolen - time.stolen) / Math.max(1, total - time.total) };
}

/**
 * Measures the stores in turn, as often as there are rounds (A B C A B C), so that a slow minute meets all of them. A trial
 * during which the host took much of the machine away does not count.
 */
export async function interleave(
  stores: readonly MetricStore[],
  options: {
    readonly rounds: number;
    readonly postgresPid: number;
    readonly load: (store: MetricStore) => Promise<() => Promise<LoopResult>>;
  },
): Promise<Trial[]> {
  const trials: Trial[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    for (const store of stores) {
      let trial = await measureOnce(store, options.postgresPid, await options.load(store));
      for (let repeat = 0; trial.stolen > STOLEN_MAX && repeat < REPEATS; repeat += 1) {
        trial = await measureOnce(store, options.postgresPid, await options.load(store));
      }
      trials.push(trial);
    }
  }
  return trials;
}

const median = (values: readonly number[]): number => spreadOf(values).median;

/** One summary per store, in the order in which they were measured. */
export function summarize({ trials, scalars }: Comparison): Summary[] {
  return [...new Set(trials.map(({ store }) => store))].map((store) => {
    const own = trials.filter((trial) => trial.store === store);
    const results = own.map(({ result }) => result);
    const perRequest = (side: keyof CpuReading): number =>
      median(own.map(({ cpu, result }) => (cpu[side] * 1e6) / result.sent));
    const cpu = { server: perRequest("server"), database: perRequest("database"), client: perRequest("client") };
    return {
      store,
      rate: spreadOf(results.map(({ requests, seconds }) => requests / seconds)),
      p50: median(results.map(({ p50 }) => p50)),
      p95: median(results.map(({ p95 }) => p95)),
      cpu,
      cpuPerMillion: (cpu.server + cpu.database + cpu.client) / scalars,
      errors: results.reduce((total, { errors }) => total + errors, 0),
      firstError: results.find(({ firstError }) => firstError !== undefined)?.firstError,
    };
  });
}

/** How many times as many requests a second the first store answers as the other does; undefined where one was not measured. */
export function rateRatio(summaries: readonly Summary[], ours: string, other: string): number | undefined {
  const rateOf = (name: string): number | undefined => summaries.find(({ store }) => store === name)?.rate.median;
  const [first, second] = [rateOf(ours), rateOf(other)];
  return first === undefined || second === undefined ? undefined : first / second;
}

/** The heading lines of the table of comparisons. */
export const comparisonHead = tableHead([
  "case",
  "store",
  "requests/s (range)",
  "scalars/s",
  "p50 ms",
  "p95 ms",
  "CPU µs/request: server + PostgreSQL + client",
  "CPU s per million scalars",
  "ours is faster by",
  "errors",
]);

/** A case as lines of that table; the first store is the one that the others are compared with. */
export function comparisonRows(comparison: Comparison): string {
  const summaries = summarize(comparison);
  const digits = (value: number): number => (value < 10 ? 2 : value < 100 ? 1 : 0);
  return summaries
    .map(({ store, rate, p50, p95, cpu, cpuPerMillion, errors, firstError }, index) => {
      const ratio = rateRatio(summaries, summaries[0]!.store, store);
      return tableRow([
        comparison.name,
        store,
        `${shown(rate.median, digits(rate.median))} (${shown(rate.min, digits(rate.min))} to ${shown(rate.max, digits(rate.max))})`,
        shown(rate.median * comparison.scalars),
        shown(p50, 1),
        shown(p95, 1),
        `${shown(cpu.server)} + ${shown(cpu.database)} + ${shown(cpu.client)}`,
        shown(cpuPerMillion, 2),
        index === 0 || ratio === undefined ? "" : `${shown(ratio, digits(ratio))} x`,
        errors === 0 ? 0 : `${errors}: ${firstError}`,
      ]);
    })
    .join("\n");
}
