import { README_BYTES_MAX } from "@tidemark/limits";
import { badRequest, notFound } from "@tidemark/errors";
import { admitChange, callerOf, canSee, pathId, refuseUnpaid, throwFault } from "@tidemark/requests";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { lockRunState } from "../update/run-changes.sql.ts";
import { findReadme, putReadme } from "./readmes.sql.ts";

/** Returns the readme of a run; `""` where it was never written, or was cleared. @throws not_found */
export function getReadme({ db }: Pick<RunsDeps, "db">): RunsHandlers["getReadme"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const runId = pathId(request.runId, "run");
    const markdown = await db.readTenant(orgId, (tx) => findReadme(tx, orgId, runId, projectId));
    if (markdown === undefined) throw notFound("run");
    return { markdown };
  };
}

/**
 * Replaces the readme of a run. The text is stored unchanged.
 * @throws not_found, then bad_request, then payment_required, plan_limit_exceeded
 */
export function putReadmeOfRun({
  db,
  storageGate,
  noteChange,
}: Pick<RunsDeps, "db" | "storageGate" | "noteChange">): RunsHandlers["putReadme"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const { markdown } = request;
    const projectId = await db.withTenant(orgId, async (tx) => {
      const run = await lockRunState(tx, orgId, runId);
      if (run === undefined || !canSee(caller, { orgId, projectId: run.projectId })) throw notFound("run");
      throwFault(request.bodyFault);
      if (Buffer.byteLength(markdown) > README_BYTES_MAX) {
        throw badRequest(`markdown must have at most ${README_BYTES_MAX} bytes`, "markdown");
      }
      if (markdown.includes("\0")) throw badRequest("markdown must not contain NUL", "markdown");
      refuseUnpaid(caller);
      await admitChange(storageGate, caller, Buffer.byteLength(markdown), async () =>
        Buffer.byteLength((await findReadme(tx, orgId, runId, undefined)) ?? ""),
      );
      await putReadme(tx, orgId, runId, markdown);
      return run.projectId;
    });
    noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
    return { markdown };
  };
}
