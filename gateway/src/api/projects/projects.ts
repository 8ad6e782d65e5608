import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateProjectRequestSchema,
  CreateProjectResponse,
  ListProjectsRequestSchema,
  ListProjectsResponse,
  Project,
} from "@tidemark/proto/runs/v1/runs";
import { PAGE_ROWS } from "@tidemark/limits";
import type { Json } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { deletedFlag, deletionJson, deletionProperties } from "../deletion/deletion.ts";
import { described, object, optional } from "../fields/field.ts";
import { limit, offset } from "../fields/number.ts";
import { text, textOrEmpty } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";

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
});

/** GET /projects. @throws bad_request */
export function decodeListProjects({ query }: RouteInput): MessageInitShape<typeof ListProjectsRequestSchema> {
  const page = listProjectsQuery.read(query);
  return { limit: page.limit, offset: BigInt(page.offset), ...(page.deleted ? { deleted: true } : {}) };
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
