import type { PlannedRun } from "./export-plan.ts";
import type { Part, Reading } from "./reading.ts";

/** Metric keys of a page. */
const KEYS = 5000;

/** Reads the aggregates of the metric keys of runs, by run and key. */
export async function* exportSeries(
  { clients, newCall, allowance }: Reading,
  runs: readonly PlannedRun[],
): AsyncGenerator<Part> {
  for (const { runId, metricKeys } of runs) {
    let unread = allowance.takeCount(metricKeys);
    let after = "";
    while (unread > 0) {
      const limit = Math.min(unread, KEYS);
      const aggregates = await clients.ingestRead.pageMetricAggregates({ runId, limit, after }, newCall());
      yield { case: "series", value: { runId, aggregates } };
      unread = aggregates.keys.length < limit ? 0 : unread - limit;
      after = aggregates.keys.at(-1) ?? "";
    }
  }
}

/** Reads the points of runs, by run, key, step and arrival. An answer has at most as many points as an export. */
export async function* exportPoints(
  { clients, newCall, allowance }: Reading,
  runs: readonly PlannedRun[],
): AsyncGenerator<Part> {
  for (const { runId, points } of runs) {
    if (points === 0) continue;
    const limit = allowance.left();
    if (limit === 0) {
      allowance.takeCount(points);
      return;
    }
    const { keys, truncated } = await clients.ingestRead.listMetricPoints({ runId, limit }, newCall());
    const read = keys.reduce((sum, key) => sum + (key.points?.steps.length ?? 0), 0);
    allowance.takeCount(truncated ? read + 1 : read);
    yield { case: "points", value: { runId, keys } };
  }
}
