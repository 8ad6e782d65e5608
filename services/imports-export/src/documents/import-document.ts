import { callerOf, refuseUnpaid } from "@tidemark/requests";
import { redactText } from "../chunks/clean-body.rules.ts";
import { stageContent } from "../chunks/put-chunk.ts";
import { awaitCommit, requestCommit } from "../commit/commit-job.ts";
import type { ImportsDeps, ImportsHandlers } from "../deps.ts";
import { targetOf } from "../jobs/create-job.ts";
import { countsOf, encodeJob, partsOf } from "../jobs/get-job.ts";
import { insertJob } from "../jobs/jobs.sql.ts";

const SCHEMA_VERSION = 1;
/** A document is the only chunk of its import. */
const CHUNK_ID = "document";

/** ImportsService.ImportDocument. @throws bad_request, forbidden, payment_required, plan_limit_exceeded, service_unavailable */
export function importDocument({
  db,
  wakeRelay,
  gate,
  readers,
}: Pick<ImportsDeps, "db" | "wakeRelay" | "gate" | "readers">): ImportsHandlers["importDocument"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const { source } = request;
    const { project, ...read } = await readers.document(orgId, request.bodyJson, source);
    if (request.dryRun) {
      await db.readTenant(orgId, (tx) => targetOf(tx, caller, project));
      return { counts: { ...read.content.counts, warnings: read.warningCount } };
    }
    refuseUnpaid(caller);
    const id = await db.withTenant(orgId, async (tx) => {
      const made = await insertJob(tx, orgId, {
        projectId: await targetOf(tx, caller, project),
        sourceType: `${source}_json`,
        sourceProject: redactText(project),
        targetProject: project,
        schemaVersion: SCHEMA_VERSION,
        dedupePolicy: "legacy",
        createdByUserId: call.identity!.userId || null,
        status: "committing",
      });
      await stageContent(tx, { gate, caller }, made, {
        chunkId: CHUNK_ID,
        sequence: 0,
        isFinal: true,
        ...read,
      });
      return (await requestCommit(tx, made, call.identity!)).id;
    });
    wakeRelay();
    const row = await awaitCommit(db, call, { orgId, id });
    const parts = await db.readTenant(orgId, (tx) => partsOf(tx, row));
    return { counts: countsOf(row), job: encodeJob(row, parts) };
  };
}
