import type { CreateProjectResponse, ListProjectsResponse, Project } from "@tidemark/proto/runs/v1/runs";
import type { RouteReply } from "../route.ts";
import type { Json } from "./json.ts";
import { requireMessage } from "./runs-message.ts";

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
