import { OBJECT_KINDS } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { ExportObjectsRequestSchema, ExportObjectsResponseSchema } from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory } from "@tidemark/requests";
import type { StreamHandler } from "@tidemark/rpc";
import { encodeStoredObject } from "../objects/encode-object.ts";
import { unpackChunk } from "../objects/chunk-bytes.ts";
import { readTableChunks } from "../objects/table-rows.sql.ts";
import { findObjectKinds, readObjectsOfKind } from "./objects.sql.ts";

/** IngestArchiveService.ExportObjects. @throws bad_request, not_found */
export function exportObjectsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): StreamHandler<typeof ExportObjectsRequestSchema, typeof ExportObjectsResponseSchema> {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(deps.runs, request.runIds, call);
    yield* deps.db.streamTenant(
      orgId,
      async function* (tx) {
        for (const { runId, kind } of await findObjectKinds(tx, orgId, runIds, OBJECT_KINDS)) {
          for await (const object of readObjectsOfKind(tx, orgId, runId, kind)) {
            yield { rows: { case: "object" as const, value: encodeStoredObject(orgId, object) } };
            if (kind !== "table") continue;
            for (let chunk = 0; ; chunk += 1) {
              const [stored] = await readTableChunks(tx, orgId, object.id, { first: chunk, last: chunk });
              if (stored === undefined) break;
              yield { rows: { case: "tableRows" as const, value: unpackChunk(stored) } };
            }
          }
        }
      },
      { plans: "walks" },
    );
  };
}
