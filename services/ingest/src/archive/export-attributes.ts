import type { Db } from "@tidemark/pg";
import type { ExportAttributesRequestSchema, ExportAttributesResponseSchema } from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory } from "@tidemark/requests";
import type { StreamHandler } from "@tidemark/rpc";
import { encodeAttribute } from "../attributes/attributes.ts";
import { findAttributeRuns, readAttributes } from "./attributes.sql.ts";

/** IngestArchiveService.ExportAttributes. @throws bad_request, not_found */
export function exportAttributesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): StreamHandler<typeof ExportAttributesRequestSchema, typeof ExportAttributesResponseSchema> {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(deps.runs, request.runIds, call);
    yield* deps.db.streamTenant(
      orgId,
      async function* (tx) {
        for (const runId of await findAttributeRuns(tx, orgId, runIds)) {
          for await (const records of readAttributes(tx, orgId, runId)) {
            yield { attributes: records.map((record) => encodeAttribute(orgId, runId, record)) };
          }
        }
      },
      { plans: "walks" },
    );
  };
}
