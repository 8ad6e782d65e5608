import { badRequest, isAppError, notFound } from "@tidemark/errors";
import type { Project } from "@tidemark/proto/runs/v1/runs";
import type { Call } from "@tidemark/rpc";
import { requireMessage } from "../../../api/replies.ts";
import type { Clients } from "../../../clients.ts";
import { DEFAULT_EXPERIMENT, readExperimentId } from "../ids.ts";

/** Returns the project of an experiment by its id, deleted or not; undefined for `Default` while nothing was written to it. @throws not_found */
export async function findExperiment(clients: Clients, sentId: unknown, call: Call): Promise<Project | undefined> {
  const number = readExperimentId(sentId);
  if (number === 0n) return findByName(clients, DEFAULT_EXPERIMENT.name, call);
  try {
    return requireMessage((await clients.runs.getProject({ number, includeDeleted: true }, call)).project);
  } catch (error) {
    throw isAppError(error) && error.reason === "not_found" ? notFound("experiment") : error;
  }
}

/** Returns the project of this name, which is not deleted; undefined when there is none. */
export async function findByName(clients: Clients, name: string, call: Call): Promise<Project | undefined> {
  try {
    return (await clients.runs.getProject({ name }, call)).project;
  } catch (error) {
    if (isAppError(error) && error.reason === "not_found") return undefined;
    throw error;
  }
}

/** Returns the project of an experiment to write to; `Default` is made when it is missing. @throws not_found, bad_request for a deleted one */
export async function experimentToWrite(clients: Clients, sentId: unknown, call: Call): Promise<Project> {
  const found =
    (await findExperiment(clients, sentId, call)) ??
    requireMessage((await clients.runs.createProject({ name: DEFAULT_EXPERIMENT.name }, call)).project);
  if (found.deletion !== undefined) throw badRequest("the experiment is deleted; restore it first", "experiment_id");
  return found;
}
