import type { Schema } from "../route.ts";
import { PROJECTS_LIMIT } from "./projects-request.ts";

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
