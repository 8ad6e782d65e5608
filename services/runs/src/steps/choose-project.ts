import { AppError } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { Caller } from "@tidemark/requests";
import { findProject } from "../store/find-project.ts";

/** The project of runs whose client names none. */
export const DEFAULT_PROJECT = "default";

/**
 * The name of the project that a run create is about: the one that the client names, else the one
 * of a project-scoped key, else `default`.
 * @throws forbidden when a project-scoped key names another project
 */
export async function chooseProject(tx: Tx, caller: Caller, explicit: string | undefined): Promise<string> {
  if (caller.projectId === undefined) return explicit ?? DEFAULT_PROJECT;
  const own = await findProject(tx, caller.orgId, caller.projectId);
  if (own === undefined || (explicit !== undefined && explicit !== own.name)) {
    throw new AppError("forbidden", "a project-scoped key can use its own project only", { field: "project" });
  }
  return own.name;
}
