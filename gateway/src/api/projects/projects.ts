import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateProjectRequestSchema,
  CreateProjectResponse,
  ListProjectsRequestSchema,
  ListProjectsResponse,
  Project,
} from "@tidemark/proto/runs/v1/runs";
import type { Json } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { readLimit, readOffset, readOptionalText } from "../fields/index.ts";
import { requireMessage } from "../replies.ts";

/** Page sizes of the project list. */
const PROJECTS_LIMIT = { default: 100, max: 1000 } as const;

/** POST /projects: a blank name means the default project, a blank description is refused. @throws bad_request */
export function decodeCreateProject({ body }: RouteInput): MessageInitShape<typeof CreateProjectRequestSchema> {
  const description = readOptionalText(body, "description");
  return {
    name: readOptionalText(body, "name", { blank: "absent" }) ?? "",
    ...(description === undefined ? {} : { description }),
  };
}

/** GET /projects. @throws bad_request */
export function decodeListProjects({ query }: RouteInput): MessageInitShape<typeof ListProjectsRequestSchema> {
  return { limit: readLimit(query, PROJECTS_LIMIT), offset: BigInt(readOffset(query)) };
}

function projectJson(project: Project): Json {
  return {
    id: project.id,
    org_id: project.orgId,
    name: project.name,
    description: project.description ?? null,
    created_at: project.createdAt,
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
  },
};

/** Body of POST /projects. */
export const createProjectSchema: Schema = {
  type: "object",
  properties: {
    name: { type: ["string", "null"], description: "Default: `default`." },
    description: { type: ["string", "null"], minLength: 1 },
  },
};

/** Query of GET /projects. */
export const listProjectsQuery: Readonly<Record<string, Schema>> = {
  limit: { type: "integer", minimum: 1, maximum: PROJECTS_LIMIT.max, default: PROJECTS_LIMIT.default },
  offset: { type: "integer", minimum: 0, default: 0 },
};
