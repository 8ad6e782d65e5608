import { streamPages } from "@tidemark/pg";
import type { ArtifactsArchiveService } from "@tidemark/proto/artifacts/v1/archive";
import { exportedRuns } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { ArtifactsDeps } from "../deps.ts";
import { encodeArtifact } from "./list-artifacts.ts";
import { readArtifactsOfRun } from "./archived-artifacts.sql.ts";

/** ArtifactsArchiveService.ExportArtifacts. @throws bad_request, not_found */
export function exportArtifactsHandler({
  db,
  runs,
}: Pick<ArtifactsDeps, "db" | "runs">): Handlers<(typeof ArtifactsArchiveService)["method"]>["exportArtifacts"] {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(runs, request.runIds, call);
    const order = request.byPage ? "newest" : "oldest";
    yield* streamPages(db, orgId, request.byPage, async function* (read) {
      for (const runId of runIds) {
        for await (const rows of readArtifactsOfRun(read, orgId, runId, order))
          yield { artifacts: rows.map(encodeArtifact) };
      }
    });
  };
}
