import type { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import { exportedRuns } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { ArtifactsDeps } from "../deps.ts";
import { encodeArtifact } from "../plain/encode-artifact.ts";
import { readArtifactsOfRun } from "./artifacts.sql.ts";
import { exportVersionsHandler } from "./export-versions.ts";

/** Returns the handlers of ArtifactsArchiveService. ExportArtifacts throws bad_request, not_found. */
export function archiveHandlers(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "storageBackend">,
): Handlers<(typeof ArtifactsArchiveService)["method"]> {
  const { db, runs } = deps;
  return {
    exportVersions: exportVersionsHandler(deps),
    async *exportArtifacts(request, call) {
      const { orgId, runIds } = await exportedRuns(runs, request.runIds, call);
      yield* db.streamTenant(
        orgId,
        async function* (tx) {
          for (const runId of runIds) {
            for await (const rows of readArtifactsOfRun(tx, orgId, runId))
              yield { artifacts: rows.map(encodeArtifact) };
          }
        },
        { plans: "walks" },
      );
    },
  };
}
