import { AppError, badRequest } from "@tidemark/errors";
import type { ExactJson, ExactObject } from "@tidemark/documents";

/** What POST /runs does when the id exists (API specification, States and transitions). */
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

/** The parts of the stored run that a create request is compared with; the project by its current name, which is unique. */
type ExistingRun = {
  readonly project: string;
  /** Null for runs created without a client id, and for forks. */
  readonly createFingerprint: Uint8Array | null;
};

/**
 * Decides what happens to an existing run that the caller may see: attach to it unchanged, or resume it.
 * A create is a replay only if it equals the request that created the run, however long ago;
 * auto compares nothing; a resume may name the run's own project only.
 * @throws run_id_conflict, resume_project_mismatch
 */
export function judgeExisting(
  mode: CreateMode,
  run: ExistingRun,
  request: {
    readonly project: string;
    readonly fingerprint: Uint8Array;
    readonly explicitProject: string | undefined;
  },
): "attach" | "resume" {
  switch (mode) {
    case "auto":
      return "attach";
    case "create":
      if (run.project === request.project && isSame(run.createFingerprint, request.fingerprint)) return "attach";
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

function isSame(stored: Uint8Array | null, wanted: Uint8Array): boolean {
  return stored !== null && Buffer.compare(stored, wanted) === 0;
}

/** The parts that make two create requests equal, after names were trimmed and defaults filled in. */
type FingerprintedRequest = {
  readonly id: string;
  /** Null when the client left the name to the server. */
  readonly name: string | null;
  readonly config: ExactObject;
  readonly tags: readonly string[];
  readonly metadata: ExactObject;
};

/**
 * Returns a value that is equal for equal requests, to be fingerprinted; the project is compared separately, because it can be renamed.
 * The order of keys does not matter, the order of tags does; numbers are equal when their decimal values are, so `1.0` equals `1` and 9007199254740993
 * does not equal 9007199254740992. Fingerprints are stored: they must not change between releases.
 */
export function comparedCreate({ id, name, config, tags, metadata }: FingerprintedRequest): ExactJson {
  return { id, name, config, tags, metadata };
}
