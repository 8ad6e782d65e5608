import { AppError, badRequest } from "@tidemark/errors";

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NIL = "00000000-0000-0000-0000-000000000000";

/** Tells whether a text can be an id at all: a UUID in lower case with hyphens. */
export function isUuid(text: string): boolean {
  return CANONICAL.test(text);
}

/** Checks the id that a client chose for its run. @throws invalid_run_id (API specification, POST /runs) */
export function requireRunId(text: string): string {
  if (isUuid(text) && text !== NIL) return text;
  throw new AppError("invalid_run_id", "id must be a canonical UUID", { field: "id" });
}

/** 404 of a create or resume: the id is taken by a run that the caller may not see, or there is none to resume. */
export function runNotFound(): AppError {
  return new AppError("run_not_found", "run not found");
}

/** 400: a resume has to say which run. */
export function resumeNeedsId(): AppError {
  return badRequest("mode resume needs an id", "id");
}
