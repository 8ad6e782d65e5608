import { badRequest } from "@tidemark/errors";
import { RESERVED_OBJECTS_MAX } from "@tidemark/limits";
import { isAnswered, type Tx } from "@tidemark/pg";
import { admitWrite } from "@tidemark/plan-limits";
import { callerOf, pathId, type Caller } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { reserveObjects as insertObjects } from "../objects/objects.sql.ts";
import { requireUpload, requireUploading, UPLOAD } from "../uploads/require-upload.ts";

/** Seconds within which an object must be attached to an artifact or a version. */
const SWEEP_SECONDS = 3600;

/**
 * ArtifactsService.ReserveObjects: for a run that the caller may see, or for an upload that may still be completed. A completed upload may be completed
 * again, so it gets objects too; they are swept. Objects for a run need admission; objects for an upload were admitted when it began.
 * @throws not_found, gone for an upload that has expired, conflict for one that was given up, bad_request, payment_required, plan_limit_exceeded,
 *   idempotency_in_progress
 */
export function reserveObjects(
  deps: Pick<ArtifactsDeps, "db" | "runs" | "newId" | "gate">,
): ArtifactsHandlers["reserveObjects"] {
  return async ({ owner, count, bytes, writerKey }, call) => {
    const caller = callerOf(call);
    if (owner.case === "runId") await deps.runs.require(caller, [pathId(owner.value, "run")]);
    const sessionId = owner.case === "uploadSessionId" ? pathId(owner.value, UPLOAD) : undefined;
    if (owner.case === undefined) throw badRequest("one of run_id and upload_session_id is required");
    const isCounted = count >= 1 && count <= RESERVED_OBJECTS_MAX;
    if (sessionId === undefined && isCounted) {
      await admitWrite(deps.gate, caller, Number(bytes), () => isAnswered(deps.db, caller.orgId, writerKey));
    }
    return deps.db.withTenant(caller.orgId, async (tx) => {
      if (sessionId !== undefined) await requireOpen(tx, caller, sessionId);
      if (!isCounted) {
        throw badRequest(`count must be a whole number from 1 to ${RESERVED_OBJECTS_MAX}`, "count");
      }
      const objectIds = Array.from({ length: count }, deps.newId);
      await insertObjects(tx, caller.orgId, objectIds, SWEEP_SECONDS);
      return { objectIds };
    });
  };
}

async function requireOpen(tx: Tx, caller: Caller, sessionId: string): Promise<void> {
  const upload = await requireUpload(tx, caller, sessionId);
  if (upload.state === "uploading" || upload.state === "failed") requireUploading(upload);
}
