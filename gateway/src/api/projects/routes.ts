import { route, type Route } from "../../route.ts";
import { ingestCallers, readCallers } from "../callers.ts";
import {
  createProjectBody,
  decodeCreateProject,
  decodeListProjects,
  encodeCreateProject,
  encodeListProjects,
  listProjectsQuery,
  projectSchema,
} from "./projects.ts";

/** Projects. */
export const projectsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/projects",
    tag: "projects",
    summary: "Create a project",
    description: "Answers the existing project, unchanged, when the name is taken. Not for project-scoped keys.",
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "none",
    body: "required",
    schemas: {
      body: createProjectBody.schema,
      response: { type: "object", required: ["project"], properties: { project: projectSchema } },
    },
    statuses: [200, 400, 401, 402, 403],
    decode: decodeCreateProject,
    rpc: (clients, request, call) => clients.runs.createProject(request, call),
    encode: encodeCreateProject,
  }),
  route({
    method: "GET",
    path: "/projects",
    tag: "projects",
    summary: "List projects by name",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: listProjectsQuery.schema,
      response: {
        type: "object",
        required: ["projects", "total"],
        properties: { projects: { type: "array", items: projectSchema }, total: { type: "integer", minimum: 0 } },
      },
    },
    statuses: [200, 400, 401, 403],
    decode: decodeListProjects,
    rpc: (clients, request, call) => clients.runs.listProjects(request, call),
    encode: encodeListProjects,
  }),
];
