import { appendAttributesHandler, listAttributesHandler } from "./attributes/attributes.ts";
import { appendLogLinesHandler } from "./logs/append-log-lines.ts";
import { listLogLinesHandler } from "./logs/list-log-lines.ts";
import { listMetricPointsHandler, queryMetricSeriesHandler } from "./metrics/read/query-metric-series.ts";
import { queryMetricGroupsHandler } from "./metrics/groups/query-metric-groups.ts";
import { querySeriesColumnsHandler } from "./metrics/columns/query-series-columns.ts";
import { appendMetricsHandler, appendMetricsTogetherHandler } from "./metrics/write/append-metrics.ts";
import { appendRankMetricsHandler } from "./rank-metrics/append-rank-metrics.ts";
import { appendTableRowsHandler } from "./objects/append-table-rows.ts";
import { createObjectHandler } from "./objects/create-object.ts";
import { exploreObjectsHandler } from "./objects/explore-objects.ts";
import { listObjectKeysHandler, listObjectsAtStepHandler } from "./objects/side-by-side.ts";
import { listObjectsHandler } from "./objects/list-objects.ts";
import { listTableRowsHandler } from "./objects/table-rows.ts";
import { summarizeRankMetricsHandler } from "./rank-metrics/summarize-rank-metrics.ts";
import { measureRemovalHandler } from "./removal/removal.ts";
import { measureRunDataHandler } from "./reads/measure-run-data.ts";
import { exportAttributesHandler, restoreAttributesHandler } from "./attributes/archived-attributes.ts";
import { exportLogLinesHandler, restoreLogLinesHandler } from "./logs/archived-log-lines.ts";
import { exportMetricAggregatesHandler, exportPointsHandler } from "./metrics/archive/export-metrics.ts";
import { restorePointsHandler } from "./metrics/archive/restore-points.ts";
import { exportObjectsHandler } from "./objects/export-objects.ts";
import { restoreObjectsHandlers } from "./objects/restore-objects.ts";
import { exportRankPointsHandler, restoreRankPointsHandler } from "./rank-metrics/archived-rank-points.ts";
import type { ReadDeps, WriteDeps } from "./deps.ts";

/** Returns the handlers of IngestService. */
export function writeHandlers(deps: WriteDeps) {
  const appendMetrics = appendMetricsHandler(deps);
  return {
    appendMetrics,
    appendMetricsTogether: appendMetricsTogetherHandler({
      append: appendMetrics,
      refusalOf: deps.refusalOf,
      onUnknownError: (error) => deps.log.error("a metric write failed unexpectedly", { error }),
    }),
    appendRankMetrics: appendRankMetricsHandler(deps),
    appendLogLines: appendLogLinesHandler(deps),
    appendAttributes: appendAttributesHandler(deps),
    createObject: createObjectHandler(deps),
    appendTableRows: appendTableRowsHandler(deps),
  };
}

/** Returns the handlers of IngestRestoreService. */
export function restoreHandlers(deps: WriteDeps) {
  return {
    restorePoints: restorePointsHandler(deps),
    restoreRankPoints: restoreRankPointsHandler(deps),
    restoreLogLines: restoreLogLinesHandler(deps),
    restoreAttributes: restoreAttributesHandler(deps),
    ...restoreObjectsHandlers(deps),
  };
}

/** Returns the handlers of IngestReadService. */
export function readHandlers(deps: ReadDeps) {
  return {
    listMetricPoints: listMetricPointsHandler(deps),
    queryMetricSeries: queryMetricSeriesHandler(deps),
    querySeriesColumns: querySeriesColumnsHandler(deps),
    queryMetricGroups: queryMetricGroupsHandler(deps),
    summariseRankMetrics: summarizeRankMetricsHandler(deps),
    listLogLines: listLogLinesHandler(deps),
    listAttributes: listAttributesHandler(deps),
    listObjects: listObjectsHandler(deps),
    listTableRows: listTableRowsHandler(deps),
    exploreObjects: exploreObjectsHandler(deps),
    listObjectKeys: listObjectKeysHandler(deps),
    listObjectsAtStep: listObjectsAtStepHandler(deps),
    measureRunData: measureRunDataHandler(deps),
    measureRemoval: measureRemovalHandler(deps),
  };
}

/** Returns the handlers of IngestArchiveService. */
export function archiveHandlers(deps: Pick<ReadDeps, "db" | "runs">) {
  return {
    exportPoints: exportPointsHandler(deps),
    exportRankPoints: exportRankPointsHandler(deps),
    exportLogLines: exportLogLinesHandler(deps),
    exportAttributes: exportAttributesHandler(deps),
    exportMetricAggregates: exportMetricAggregatesHandler(deps),
    exportObjects: exportObjectsHandler(deps),
  };
}
