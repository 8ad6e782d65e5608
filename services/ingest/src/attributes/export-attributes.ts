import { streamPages, type Db } from "@tidemark/pg";
import type { ExportAttributesRequestSchema, ExportAttributesResponseSchema } from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory } from "@tidemark/requests";
import type { StreamHandler } from "@tidemark/rpc";
import { encodeAttribute } from "./attributes.ts";
import { findAttributeRuns, readAttributes } from "./exported-attributes.sql.ts";

/** IngestArchiveService.ExportAttributes. @throws bad_request, not_found */
export function exportAttributesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): StreamHandler<typeof ExportAttributesRequestSchema, typeof ExportAttributesResponseSchema> {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(deps.runs, request.runIds, call);
    yield* streamPages(deps.db, orgId, request.byPage, async function* (read) {
      for (const runId of await read((tx) => findAttributeRuns(tx, orgId, runIds))) {
        for await (const records of readAttributes(read, orgId, runId)) {
          yield { attributes: records.map((record) => encodeAttribute(orgId, runId, record)) };
        }
      }
    });
  };
}
