import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateProjectRequestSchema,
  CreateProjectResponse,
  DeleteProjectResponse,
  ListProjectsRequestSchema,
  ListProjectsResponse,
  Project,
  UndeleteProjectResponse,
  UpdateProjectRequestSchema,
  UpdateProjectResponse,
} from "@tidemark/proto/runs/v1/runs";
import { PAGE_ROWS } from "@tidemark/limits";
import { badRequest } from "@tidemark/errors";
import type { Call } from "@tidemark/rpc";
import type { Json } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import type { Clients } from "../../clients.ts";
import {
  deletedFlag,
  deletionJson,
  deletionProperties,
  deletionQuery,
  measureRemoved,
  removedJson,
  withDeletion,
  type Removed,
} from "../deletion/deletion.ts";
import { checked, described, object, optional, someOf, withFault } from "../fields/field.ts";
import { limit, offset } from "../fields/number.ts";
import { queryText, text, textOrEmpty } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { pathId } from "../parameters.ts";

/** Body of POST /projects: a blank name means the default project, a blank description is refused. */
export const createProjectBody = object({
  description: optional(text()),
  name: described(textOrEmpty(), "Default: `default`."),
});

/** POST /projects. @throws bad_request */
export function decodeCreateProject({ body }: RouteInput): MessageInitShape<typeof CreateProjectRequestSchema> {
  return createProjectBody.read(body);
}

/** Query of GET /projects. */
export const listProjectsQuery = object({
  limit: limit(PAGE_ROWS),
  offset: offset(),
  deleted: described(deletedFlag, "Deleted projects come by name."),
  name: queryText({ description: "Only the project with exactly this name." }),
});

/** GET /projects. @throws bad_request, also for a deleted project by name */
export function decodeListProjects({ query }: RouteInput): MessageInitShape<typeof ListProjectsRequestSchema> {
  const { limit: rows, offset: from, deleted, name } = listProjectsQuery.read(query);
  const page = { limit: rows, offset: BigInt(from) };
  if (name === "") return deleted ? { ...page, deleted } : page;
  if (deleted) throw badRequest("deleted projects are not found by name", "name");
  return { ...page, name };
}

/** A project. */
export function projectJson(project: Project): { readonly [key: string]: Json } {
  return {
    id: project.id,
    org_id: project.orgId,
    name: project.name,
    description: project.description ?? null,
    created_at: project.createdAt,
    ...(project.deletion === undefined ? {} : deletionJson(project.deletion)),
  };
}

/** `{project}`. */
export function encodeCreateProject({ project }: CreateProjectResponse): RouteReply {
  return { body: { project: projectJson(requireMessage(project)) } };
}

/** `{projects, total}`. */
export function encodeListProjects({ projects, total }: ListProjectsResponse): RouteReply {
  return { body: { projects: projects.map(projectJson), total: Number(total) } };
}

/** A project. */
export const projectSchema: Schema = {
  type: "object",
  required: ["id", "org_id", "name", "description", "created_at"],
  properties: {
    id: { type: "string", format: "uuid" },
    org_id: { type: "string", format: "uuid" },
    name: { type: "string" },
    description: { type: ["string", "null"] },
    created_at: { type: "string", format: "date-time" },
    ...deletionProperties,
  },
};

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
