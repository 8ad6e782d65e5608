import { createHash } from "node:crypto";
import { parseJsonObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import { callerOf, refuseUnpaid } from "@tidemark/requests";
import { cleanBody } from "../chunks/clean-body.rules.ts";
import { redactText } from "../chunks/redact.rules.ts";
import { stageContent } from "../chunks/stage-content.ts";
import { awaitCommit } from "../commit/await-commit.ts";
import { requestCommit } from "../commit/request-commit.ts";
import { firstOf, readName, type Fields } from "../content/read-fields.rules.ts";
import type { ImportsDeps, ImportsHandlers } from "../handlers.ts";
import { targetOf } from "../jobs/create-job.ts";
import { countsOf, encodeJob } from "../jobs/encode-job.ts";
import { insertJob } from "../jobs/jobs.sql.ts";
import { partsOf } from "../jobs/require-job.ts";
import { readDocumentRuns, type ReadDocumentRun } from "./document.rules.ts";
import { MLFLOW_PROJECT, readMlflowRun } from "./mlflow.rules.ts";
import { readNeptuneRun } from "./neptune.rules.ts";
import { readWandbRun } from "./wandb.rules.ts";

const READERS: Readonly<Record<string, { readonly readRun: ReadDocumentRun; readonly project?: string }>> = {
  wandb: { readRun: readWandbRun },
  neptune: { readRun: readNeptuneRun },
  mlflow: { readRun: readMlflowRun, project: MLFLOW_PROJECT },
};

const SCHEMA_VERSION = 1;
/** A document is the only chunk of its import. */
const CHUNK_ID = "document";

/** ImportsService.ImportDocument. @throws bad_request, forbidden, payment_required, plan_limit_exceeded, service_unavailable */
export function importDocument({
  db,
  nudge,
  gate,
}: Pick<ImportsDeps, "db" | "nudge" | "gate">): ImportsHandlers["importDocument"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const { source } = request;
    const reader = READERS[source];
    if (reader === undefined) throw badRequest(`source must be one of ${Object.keys(READERS).join(", ")}`, "source");
    const bytes = Buffer.from(request.bodyJson);
    const body = cleanBody(parseJsonObject(bytes, true));
    const project = projectOf(body, reader.project);
    const { content, skipped } = readDocumentRuns(body, source, reader.readRun);
    const counts = {
      runs: content.runs.length,
      metrics: content.points.steps.length,
      attributes: content.attributes.length,
      artifacts: content.artifacts.length,
      warnings: skipped.count(),
    };
    if (request.dryRun) {
      await db.readTenant(orgId, (tx) => targetOf(tx, caller, project));
      return { counts };
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
        content,
        warnings: skipped.warnings(),
        warningCount: skipped.count(),
        hash: createHash("sha256").update(bytes).digest(),
      });
      return (await requestCommit(tx, made, call.identity!)).id;
    });
    nudge();
    const row = await awaitCommit(db, call, { orgId, id });
    const parts = await db.readTenant(orgId, (tx) => partsOf(tx, row));
    return { counts: countsOf(row), job: encodeJob(row, parts) };
  };
}

/** @throws bad_request */
function projectOf(body: Fields, fallback: string | undefined): string {
  const told = firstOf(body, ["project"]);
  if (told !== undefined) return readName(told, "project");
  if (fallback === undefined) throw badRequest("project is required", "project");
  return fallback;
}
