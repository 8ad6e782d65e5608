import { route, type Route, type Schema } from "../../route.ts";
import { ingestCallers, readCallers, signedInAdmins } from "../callers.ts";
import { deletionQuery, dryRunSchema } from "../deletion/deletion.ts";
import {
  createProjectBody,
  decodeCreateProject,
  decodeDeleteProject,
  decodeListProjects,
  decodeRestoreProject,
  decodeUpdateProject,
  deletableProjectSchema,
  deleteProject,
  encodeCreateProject,
  encodeDeleteProject,
  encodeListProjects,
  encodeRestoreProject,
  encodeUpdateProject,
  listProjectsQuery,
  projectSchema,
  updateProjectBody,
} from "./projects.ts";
import { decodeListKeys, encodeListKeys, listKeysQuery, listKeysSchema } from "./keys.ts";

const withProject = (project: Schema): Schema => ({ type: "object", required: ["project"], properties: { project } });

/** Projects. */
export const projectsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/projects",
    tag: "projects",
    summary: "Create a project",
    description:
      "Answers the existing project, unchanged, when the name is taken. 400 for `all`, which means all projects elsewhere. Not for project-scoped keys.",
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "none",
    body: "required",
    schemas: {
      body: createProjectBody.schema,
      response: withProject(projectSchema),
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
  route({
    method: "GET",
    path: "/api/projects/{project_id}/keys",
    tag: "projects",
    summary: "List the keys of metrics, attributes and configs",
    description:
      "With the numbers of runs that have them, page by page. Counts of a project with very many keys may be some seconds old; of each kind, the first 200,000 keys are listed.",
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { query: listKeysQuery.schema, response: listKeysSchema },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeListKeys,
    rpc: (clients, request, call) => clients.runs.listKeys(request, call),
    encode: encodeListKeys,
  }),
  route({
    method: "PATCH",
    path: "/projects/{project_id}",
    tag: "projects",
    summary: "Change name and description of a project",
    description:
      "At least one of the fields is needed. 409 when another project has the name. Not for project-scoped keys.",
    callers: ingestCallers,
    rate: "ingest",
    idempotency: "none",
    body: "required",
    schemas: { body: updateProjectBody.schema, response: withProject(projectSchema) },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeUpdateProject,
    rpc: (clients, request, call) => clients.runs.updateProject(request, call),
    encode: encodeUpdateProject,
  }),
  route({
    method: "DELETE",
    path: "/projects/{project_id}",
    tag: "projects",
    summary: "Delete a project with its runs",
    description:
      "The project and its runs disappear everywhere, can be restored until purge_after, and are removed then. Its name is free immediately. A repeated call answers the same. dry_run=true answers {counts, bytes} instead.",
    callers: signedInAdmins,
    rate: "general",
    idempotency: "none",
    schemas: {
      query: deletionQuery.schema,
      response: { oneOf: [withProject(deletableProjectSchema), dryRunSchema] },
    },
    statuses: [200, 400, 401, 403, 404],
    decode: decodeDeleteProject,
    rpc: deleteProject,
    encode: encodeDeleteProject,
  }),
  route({
    method: "POST",
    path: "/projects/{project_id}/restore",
    tag: "projects",
    summary: "Restore a deleted project",
    description:
      "With the runs that were deleted with it. A project that is not deleted is answered as it is. 409 when another project has its name now.",
    callers: signedInAdmins,
    rate: "general",
    idempotency: "none",
    schemas: { response: withProject(deletableProjectSchema) },
    statuses: [200, 401, 403, 404, 409],
    decode: decodeRestoreProject,
    rpc: (clients, request, call) => clients.runs.undeleteProject(request, call),
    encode: encodeRestoreProject,
  }),
];
