import { AppError, badRequest } from "@tidemark/errors";
import { isUuid } from "@tidemark/requests";
import { readDocumentInTurns, type ExactObject } from "@tidemark/documents";
import type { RunsHandlers } from "../deps.ts";
import { requireMode, type CreateMode } from "./create-run.rules.ts";

/** A create request, its parts checked. */
export type WantedRun = {
  readonly mode: CreateMode;
  readonly id: string | undefined;
  readonly explicitProject: string | undefined;
  readonly name: string | undefined;
  readonly config: ExactObject;
  readonly tags: readonly string[];
  readonly metadata: ExactObject;
};

const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** Reads a create request, large documents in turns. @throws invalid_run_mode, invalid_run_id, bad_request */
export async function readWantedRun(request: Parameters<RunsHandlers["createRun"]>[0]): Promise<WantedRun> {
  const mode = requireMode(request.mode);
  const id = request.id === undefined ? undefined : requireRunId(request.id);
  if (mode === "resume" && id === undefined) throw badRequest("mode resume needs an id", "id");
  return {
    mode,
    id,
    explicitProject: request.project,
    name: request.name,
    config: await readDocumentInTurns(request.configJson, "config"),
    tags: request.tags,
    metadata: await readDocumentInTurns(request.metadataJson, "metadata"),
  };
}

/** Returns the id that a client chose for its run. @throws invalid_run_id */
function requireRunId(text: string): string {
  if (isUuid(text) && text !== NIL_UUID) return text;
  throw new AppError("invalid_run_id", "id must be a canonical UUID", { field: "id" });
}
