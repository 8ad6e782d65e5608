import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  DeleteProjectResponse,
  UndeleteProjectResponse,
  UpdateProjectRequestSchema,
  UpdateProjectResponse,
} from "@tidemark/proto/runs/v1/runs";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import {
  deletionJson,
  deletionQuery,
  measureRemoved,
  removedJson,
  withDeletion,
  type Removed,
} from "../deletion/deletion.ts";
import { checked, object, optional, someOf, withFault } from "../fields/field.ts";
import { text } from "../fields/text.ts";
import { pathId } from "../path-id.ts";
import { requireMessage } from "../replies.ts";
import { projectJson, projectSchema } from "./projects.ts";

/** Body of PATCH /projects/{project_id}. */
export const updateProjectBody = checked(
  object({ description: optional(text()), name: optional(text()) }),
  ({ description, name }) => {
    if (description === undefined && name === undefined) throw badRequest("one of name and description is required");
  },
  someOf("name", "description"),
);

/** PATCH /projects/{project_id}. Faults of the body travel with the request, because a missing project takes precedence. */
export function decodeUpdateProject(input: RouteInput): MessageInitShape<typeof UpdateProjectRequestSchema> {
  const { value, fault } = withFault(() => updateProjectBody.read(input.body));
  return { projectId: pathId(input, "project_id"), ...value, bodyFault: fault };
}

/** `{project}`. */
export function encodeUpdateProject({ project }: UpdateProjectResponse): RouteReply {
  return { body: { project: projectJson(requireMessage(project)) } };
}

/** A project that says whether it is deleted. */
export const deletableProjectSchema: Schema = withDeletion(projectSchema);

/** DELETE /projects/{project_id}. @throws bad_request */
export function decodeDeleteProject(input: RouteInput): { projectId: string; dryRun: boolean } {
  return { projectId: pathId(input, "project_id"), dryRun: deletionQuery.read(input.query).dryRun };
}

/** Deletes a project, or measures what would be removed. */
export async function deleteProject(
  clients: Clients,
  request: { readonly projectId: string; readonly dryRun: boolean },
  call: Call,
): Promise<DeleteProjectResponse | Removed> {
  const deleted = await clients.runs.deleteProject(request, call);
  if (!request.dryRun) return deleted;
  return measureRemoved(clients, { projectId: request.projectId }, call);
}

/** `{project}`, or `{counts, bytes}` of a dry run. */
export function encodeDeleteProject(reply: DeleteProjectResponse | Removed): RouteReply {
  return "points" in reply ? { body: removedJson(reply) } : encodeRestoreProject(reply);
}

/** POST /projects/{project_id}/restore. */
export function decodeRestoreProject(input: RouteInput): { projectId: string } {
  return { projectId: pathId(input, "project_id") };
}

/** `{project}`. */
export function encodeRestoreProject({ project }: DeleteProjectResponse | UndeleteProjectResponse): RouteReply {
  const row = requireMessage(project);
  return { body: { project: { ...projectJson(row), ...deletionJson(row.deletion) } } };
}
