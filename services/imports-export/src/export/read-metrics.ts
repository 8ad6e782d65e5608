import type { PlannedRun } from "./export-plan.ts";
import type { Part, Reading } from "./reading.ts";

/** Reads the aggregates of the metric keys of runs, by run and key. */
export async function* exportSeries(
  { clients, call, allowance }: Reading,
  runs: readonly PlannedRun[],
): AsyncGenerator<Part> {
  for (const { runId, metricKeys } of runs) {
    if (metricKeys === 0) continue;
    for await (const page of clients.ingestArchive.exportMetricAggregates({ runIds: [runId] }, call)) {
      const keys = allowance.takeCount(page.keys.length);
      if (keys > 0) yield { case: "series", value: { aggregates: page, keys } };
      if (allowance.isExceeded()) return;
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
