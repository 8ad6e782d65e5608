import { appendAttributesHandler, listAttributesHandler } from "./attributes/attributes.ts";
import { appendLogLinesHandler } from "./logs/append-log-lines.ts";
import { listLogLinesHandler } from "./logs/list-log-lines.ts";
import { listMetricPointsHandler } from "./metrics/read/list-metric-points.ts";
import { queryMetricGroupsHandler } from "./metrics/groups/query-metric-groups.ts";
import { querySeriesColumnsHandler } from "./metrics/columns/query-series-columns.ts";
import { queryMetricSeriesHandler } from "./metrics/read/query-metric-series.ts";
import { appendMetricsHandler, appendMetricsTogetherHandler } from "./metrics/write/append-metrics.ts";
import { appendRankMetricsHandler } from "./rank-metrics/append-rank-metrics.ts";
import { createObjectHandler } from "./objects/create-object.ts";
import { exploreObjectsHandler } from "./objects/explore-objects.ts";
import { listObjectsHandler } from "./objects/list-objects.ts";
import { listTableRowsHandler } from "./objects/list-table-rows.ts";
import { restoreAttributesHandler } from "./restore/restore-attributes.ts";
import { restoreLogLinesHandler } from "./restore/restore-log-lines.ts";
import { restoreObjectsHandlers } from "./restore/restore-objects.ts";
import { restorePointsHandler } from "./restore/restore-points.ts";
import { restoreRankPointsHandler } from "./restore/restore-rank-points.ts";
import { summarizeRankMetricsHandler } from "./rank-metrics/summarize-rank-metrics.ts";
import { measureRemovalHandler } from "./removal/measure-removal.ts";
import { measureRunDataHandler } from "./run-data/measure-run-data.ts";
import { pageAttributesHandler } from "./run-data/page-attributes.ts";
import { pageMetricAggregatesHandler } from "./run-data/page-metric-aggregates.ts";
import { pageObjectsHandler } from "./run-data/page-objects.ts";
import { pageTableRowsHandler } from "./run-data/page-table-rows.ts";
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
    measureRunData: measureRunDataHandler(deps),
    measureRemoval: measureRemovalHandler(deps),
    pageMetricAggregates: pageMetricAggregatesHandler(deps),
    pageAttributes: pageAttributesHandler(deps),
    pageObjects: pageObjectsHandler(deps),
    pageTableRows: pageTableRowsHandler(deps),
  };
}
