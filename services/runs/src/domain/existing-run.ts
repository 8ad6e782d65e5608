import { AppError, badRequest } from "@tidemark/errors";

/** What POST /runs shall do when the id exists (API specification, States and transitions). */
export type CreateMode = "create" | "auto" | "resume";

/** Reads the mode; empty means create. @throws invalid_run_mode */
export function requireMode(text: string): CreateMode {
  switch (text) {
    case "":
    case "create":
      return "create";
    case "auto":
    case "resume":
      return text;
    default:
      throw new AppError("invalid_run_mode", "mode must be create, auto or resume", { field: "mode" });
  }
}

/** Of the stored run: what a create request is compared with. */
export type ExistingRun = {
  readonly project: string;
  /** Null for runs created without a client id, and for forks. */
  readonly createFingerprint: Uint8Array | null;
};

/**
 * Decides about a request whose id is a run that the caller may see: attach as it is, or resume.
 * A create is a replay only if it equals the request that made the run, however long ago that was;
 * auto compares nothing; a resume may name the run's own project only.
 * @throws run_id_conflict, resume_project_mismatch
 */
export function judgeExisting(
  mode: CreateMode,
  run: ExistingRun,
  request: { readonly fingerprint: Uint8Array; readonly explicitProject: string | undefined },
): "attach" | "resume" {
  switch (mode) {
    case "auto":
      return "attach";
    case "create":
      if (run.createFingerprint !== null && Buffer.compare(run.createFingerprint, request.fingerprint) === 0) {
        return "attach";
      }
      throw new AppError("run_id_conflict", "a run with this id exists and was not created by this request", {
        field: "id",
      });
    case "resume":
      if (request.explicitProject === undefined || request.explicitProject === run.project) return "resume";
      throw new AppError("resume_project_mismatch", `the run belongs to another project than the one named`, {
        field: "project",
      });
    default:
      throw badRequest(`unknown mode ${String(mode satisfies never)}`, "mode");
  }
}
