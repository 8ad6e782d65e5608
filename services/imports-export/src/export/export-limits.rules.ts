import { EXPORT_LIMITS } from "@tidemark/limits";

/** The amounts of a run that counters know exactly. */
type Counted = { readonly points: number; readonly metricKeys: number; readonly artifacts: number };

/** Returns whether runs together have more points, metric keys or artifacts than an export holds. */
export function isBeyondLimits(runs: readonly Counted[]): boolean {
  const sum = (what: keyof Counted): number => runs.reduce((total, run) => total + run[what], 0);
  return (
    sum("points") > EXPORT_LIMITS.metrics ||
    sum("metricKeys") > EXPORT_LIMITS.metricSeries ||
    sum("artifacts") > EXPORT_LIMITS.artifacts
  );
}

/** How many more rows of a kind an export may have. */
export type Allowance = {
  /** How many are left. */
  left(): number;
  /** Takes as many rows of a list as are left, and returns them. */
  take<Row>(rows: readonly Row[]): readonly Row[];
  /** Takes up to this many rows and returns how many were left. */
  takeCount(rows: number): number;
  /** Returns whether rows had to be left out. */
  isExceeded(): boolean;
};

/** Begins with `max` rows. */
export function createAllowance(max: number): Allowance {
  let left = max;
  let exceeded = false;
  const takeCount = (rows: number): number => {
    const taken = Math.min(rows, left);
    exceeded ||= taken < rows;
    left -= taken;
    return taken;
  };
  return {
    left: () => left,
    take: (rows) => rows.slice(0, takeCount(rows.length)),
    takeCount,
    isExceeded: () => exceeded,
  };
}

/** An import and a run that it stored or added to. */
export type RunImport = { readonly jobId: number; readonly runId: string };

/** An import with its runs that the export has, in the order of the export. */
export type ImportOfRuns = { readonly jobId: number; readonly runIds: readonly string[] };

/** Returns imports newest first, at most `max`, and whether there are more. */
export function newestImports(
  found: readonly RunImport[],
  max: number,
): { readonly imports: readonly ImportOfRuns[]; readonly more: boolean } {
  const byJob = Map.groupBy(found, ({ jobId }) => jobId);
  const newest = [...byJob.keys()].toSorted((a, b) => b - a);
  return {
    imports: newest
      .slice(0, max)
      .map((jobId) => ({ jobId, runIds: [...new Set(byJob.get(jobId)!.map(({ runId }) => runId))] })),
    more: newest.length > max,
  };
}
