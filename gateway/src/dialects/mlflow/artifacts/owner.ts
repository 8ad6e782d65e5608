import { badRequest, isAppError, notFound } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import { requireMessage } from "../../../api/replies.ts";
import type { Clients } from "../../../clients.ts";
import { experimentIdOf } from "../ids.ts";
import { experimentOfProject } from "../models/routes.ts";
import type { ArtifactPlace } from "./place.rules.ts";

/**
 * Requires that the run or the model of a place is there, and in the experiment that the place names.
 * @throws not_found, bad_request for a deleted run that is written to
 */
export async function requireOwner(
  clients: Clients,
  { owner, experimentId }: ArtifactPlace,
  use: "read" | "write",
  call: Call,
): Promise<void> {
  const found =
    owner.kind === "run"
      ? await experimentOfRun(clients, owner.id, use, call)
      : await experimentOfModel(clients, owner.id, call);
  if (found !== experimentId) throw notFound(owner.kind);
}

async function experimentOfModel(clients: Clients, modelId: string, call: Call): Promise<string> {
  const { model } = await clients.models.getModel({ modelId }, call);
  return experimentOfProject(clients, requireMessage(model).projectId, call);
}

/** Returns the id of the experiment of a run. @throws not_found, bad_request for a deleted run that is written to */
export async function experimentOfRun(
  clients: Clients,
  runId: string,
  use: "read" | "write",
  call: Call,
): Promise<string> {
  const request = { runId, metricLimit: 1, includeDeleted: use === "write" };
  const { run, hidden } = await clients.runs.getRun(request, call);
  if (hidden) throw badRequest("the run is deleted; restore it first", "run_id");
  const { project, projectNumber } = requireMessage(run?.run);
  return experimentIdOf(project, projectNumber);
}

/** Returns what a write returns. @throws what it throws; bad_request where the run was deleted meanwhile */
export async function stillWriting<T>(
  clients: Clients,
  { owner }: ArtifactPlace,
  newCall: () => Promise<Call>,
  write: (call: Call) => Promise<T>,
): Promise<T> {
  try {
    return await write(await newCall());
  } catch (error) {
    const isGone = owner.kind === "run" && isAppError(error) && error.reason === "not_found";
    if (isGone) await experimentOfRun(clients, owner.id, "write", await newCall());
    throw error;
  }
}
