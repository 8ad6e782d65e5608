import type { ReadRow } from "../http-reads.ts";
import type { Plot, PlotLine } from "../svg-plot.ts";

/** What was measured at one number of stored points. */
export type GrowthPoint = {
  readonly points: number;
  /** Written over the last part of the way here. */
  readonly scalarsPerSecond: number;
  /** Seconds from the last write to the end of the compaction. */
  readonly compactedAfter: number;
  readonly bytesPerPoint: number;
  readonly chart: ReadRow;
  readonly raw: ReadRow;
  readonly page: ReadRow;
};

/** Ingest rate, and latency of reads, against stored points. */
export function growthPlots(stages: readonly GrowthPoint[]): Plot[] {
  const line = (name: string, of: (stage: GrowthPoint) => number): PlotLine => ({
    name,
    points: stages.map((stage) => [stage.points, of(stage)]),
  });
  return [
    {
      title: "Ingest over HTTP, batches of 500 steps x 20 keys",
      xLabel: "stored points",
      yLabel: "scalars per second",
      lines: [line("scalars/s", ({ scalarsPerSecond }) => scalarsPerSecond)],
    },
    {
      title: "Reads over HTTP, one at a time",
      xLabel: "stored points",
      yLabel: "milliseconds",
      lines: [
        line("whole series, M4: p95", ({ chart }) => chart.p95),
        line("whole series, M4: median", ({ chart }) => chart.p50),
        line("1,000 points: p95", ({ raw }) => raw.p95),
        line("1,000 points: median", ({ raw }) => raw.p50),
        line("the run itself: p95", ({ page }) => page.p95),
      ],
    },
  ];
}
