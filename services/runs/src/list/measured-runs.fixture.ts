import type { DisplayStatus, RunStatus } from "@tidemark/run-state";
import { putValues, indexSortValues } from "../metrics/aggregates.fixture.ts";
import type { RunsFixture } from "../runs.fixture.ts";
import { SCORE } from "./list-pages.fixture.ts";
import { RUN_SORTS } from "@tidemark/limits";
import type { RunSort } from "./run-list.rules.ts";
import { storedRun, storeRuns, type StoredRun } from "./stored-runs.fixture.ts";

/** A metric for which less is better. */
export const LOSS = "train/loss";

const metric = (key: string, value: number | undefined) => (value === undefined ? {} : { [key]: value });

/** A run with its metrics. */
export type MeasuredRun = StoredRun & { readonly metrics: Readonly<Record<string, number>> };

/** Returns the n-th time; times increase with n, up to 49. */
export const instant = (n: number): string => `2026-03-04T05:06:${String(10 + n).padStart(2, "0")}.00000${n % 10}Z`;
/** Returns the n-th value of a list that repeats. */
export const pick = <T>(values: readonly T[], n: number): T => values[n % values.length] as T;

/** Returns runs: many have equal sort values, and some have none. */
export function drawRuns(count: number): MeasuredRun[] {
  return Array.from({ length: count }, (_, n) => {
    const [status, shown] = pick<[RunStatus, DisplayStatus]>(
      [
        ["running", "running"],
        ["finished", "finished"],
        ["running", "stopping"],
        ["failed", "failed"],
        ["finished", "stopped"],
        ["failed", "stopped"],
      ],
      n * 5,
    );
    return {
      ...storedRun({
        project: pick(["p", "q"], Math.floor(n / 3)),
        name: pick(["same", "same", "Same", "\u{FF5E}", "\u{1F600}", "a_b%c\\d", `own ${n}`], n),
        status,
        shown,
        tags: n % 4 === 0 ? ["fourth"] : [],
        createdAt: instant(Math.floor(n / 4)),
        took: pick([0, 1, 1_000_000, 86_400_000_000 + 1, 36 * 3_600_000_000, 1_000_000, 400 * 86_400_000_000], n),
      }),
      metrics: {
        ...metric(
          SCORE,
          pick([0.5, -0, 0, undefined, 0.1 + 0.2, 0.3, 5e-324, -1.7e308, 1.7e308, undefined, 0.5, -1], n),
        ),
        ...metric(LOSS, pick([0, 2, undefined, -0, 0.5, 0.5, undefined], n)),
      },
    };
  });
}

const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const descending = (a: number | string, b: number | string): number => (a === b ? 0 : a < b ? 1 : -1);

/** Returns the value to sort by, the greatest first; undefined comes last. */
function valueOf(run: MeasuredRun, sort: RunSort, metricKey: string): number | undefined {
  if (sort === "duration") return run.status === "running" ? undefined : run.took;
  const value = run.metrics[metricKey];
  return value === undefined ? undefined : metricKey === LOSS && sort === "metric-best" ? 0 - value : value + 0;
}

/** Returns the ids in the order of a list, by the plain definition of the order. */
export function sorted(runs: readonly MeasuredRun[], sort: RunSort, metricKey = SCORE): string[] {
  const newest = (a: MeasuredRun, b: MeasuredRun): number =>
    descending(a.createdAt, b.createdAt) || descending(a.id, b.id);
  const first = (a: MeasuredRun, b: MeasuredRun): number => {
    if (sort === "created") return 0;
    if (sort === "name") return byCodePoint(a.name, b.name);
    if (sort === "status") return byCodePoint(a.shown, b.shown) || byCodePoint(a.name, b.name);
    const [left, right] = [valueOf(a, sort, metricKey), valueOf(b, sort, metricKey)];
    if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
    return descending(left, right);
  };
  return runs.toSorted((a, b) => first(a, b) || newest(a, b)).map(({ id }) => id);
}

/** Every order, and both directions of metrics; no run has the last metric. */
export const orders: [sort: RunSort, metricKey: string][] = [
  ...RUN_SORTS.map((sort): [RunSort, string] => [sort, SCORE]),
  ["metric-best", LOSS],
  ["metric-latest", LOSS],
  ["metric-best", "nobody/has"],
];

/** Stores runs with their metrics; the sort values of every second one are indexed. */
export async function storeMeasured(fixture: RunsFixture, orgId: string, runs: readonly MeasuredRun[]): Promise<void> {
  await storeRuns(fixture, orgId, runs);
  for (const { id, metrics } of runs) await putValues(fixture, orgId, id, metrics);
  const measured = runs.filter(({ metrics }) => Object.keys(metrics).length > 0);
  const indexed = measured.filter((_run, n) => n % 2 === 0).map(({ id }) => id);
  await indexSortValues(fixture, orgId, indexed);
}
