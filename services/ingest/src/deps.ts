import type { ChangePublisher } from "@tidemark/bus";
import type { Db } from "@tidemark/pg";
import type { Refusal } from "@tidemark/proto/common/v1/common";
import type { Log } from "@tidemark/telemetry";
import type { PlanGate, RunDirectory } from "@tidemark/requests";
import type { DirtyMarkers } from "./compaction/dirty-markers.rules.ts";
import type { RunsOfCharts } from "./metrics/columns/query-series-columns.ts";
import type { SeriesThreads } from "./metrics/columns/series-threads.ts";
import type { MetricWriter } from "./metrics/write/metric-writer.ts";
import type { FindRunsOfSearch } from "./objects/explore-objects.ts";
import type { RankLayouts } from "./rank-metrics/rank-reports.rules.ts";
import type { IdSource } from "./writes/writes.rules.ts";

/** Dependencies of the read handlers. */
export type ReadDeps = {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly searchRuns: FindRunsOfSearch;
  readonly runsOfCharts: RunsOfCharts;
  readonly seriesThreads: SeriesThreads;
};

/** Dependencies of the write handlers. */
export type WriteDeps = Pick<ReadDeps, "db" | "runs"> & {
  readonly ids: IdSource;
  readonly metricWriter: MetricWriter;
  readonly rankLayouts: RankLayouts;
  /** Refuses values beyond the plan, and values whose bytes are beyond it. */
  readonly pointGate: PlanGate;
  /** Refuses bytes beyond the plan. */
  readonly storageGate: PlanGate;
  readonly logMarkers: DirtyMarkers;
  readonly rankMarkers: DirtyMarkers;
  /** Called with what was stored. */
  readonly noteChange: ChangePublisher["note"];
  /** Encodes an error as a part of an answer. */
  readonly refusalOf: (error: unknown) => Refusal;
  readonly log: Pick<Log, "error">;
};
