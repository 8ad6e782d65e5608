import type { Db } from "@tidemark/pg";
import type { IngestArchiveService } from "@tidemark/proto/ingest/v1/archive";
import type { RunDirectory } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import { exportAttributesHandler } from "./export-attributes.ts";
import { exportLogLinesHandler } from "./export-log-lines.ts";
import { exportObjectsHandler } from "./export-objects.ts";
import { exportPointsHandler } from "./export-points.ts";
import { exportRankPointsHandler } from "./export-rank-points.ts";

/** Returns the handlers of IngestArchiveService. */
export function archiveHandlers(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handlers<(typeof IngestArchiveService)["method"]> {
  return {
    exportPoints: exportPointsHandler(deps),
    exportRankPoints: exportRankPointsHandler(deps),
    exportLogLines: exportLogLinesHandler(deps),
    exportAttributes: exportAttributesHandler(deps),
    exportObjects: exportObjectsHandler(deps),
  };
}
