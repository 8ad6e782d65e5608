import type { Schema } from "../route.ts";
import { runSummarySchema } from "./runs-schemas.ts";

const uuidOrNull: Schema = { type: ["string", "null"], format: "uuid" };
const textOrNull: Schema = { type: ["string", "null"] };
const step: Schema = { type: ["number", "null"], minimum: 0 };
const documentOrNull: Schema = { type: ["object", "null"], additionalProperties: true };

/** Body of POST /api/runs/{run_id}/forks. */
export const forkRunSchema: Schema = {
  type: "object",
  properties: {
    name: { ...textOrNull, description: "Default: `fork-of-<parent>`, with `-step-<step>` where a step is given." },
    step: { ...step, description: "The parent's step from which the child goes on." },
    checkpoint_artifact_id: { ...uuidOrNull, description: "A checkpoint of the parent." },
    inherit_config: {
      type: ["boolean", "null"],
      default: true,
      description: "Whether the child begins with the parent's config.",
    },
    config_overrides: { ...documentOrNull, description: "Laid over the inherited config by top key." },
    tags: {
      type: ["array", "null"],
      items: { type: "string", minLength: 1 },
      description: "Added to the parent's tags, with `forked`.",
    },
    notes: { ...textOrNull, minLength: 1, description: "Stored as metadata.notes." },
    metadata: {
      ...documentOrNull,
      description:
        "The child's metadata; nothing is inherited. The keys lineage, parent_run_id, forked_from_step and forked_from_artifact_id are the server's.",
    },
  },
};

/** Answer of POST /api/runs/{run_id}/forks. */
export const forkedRunSchema: Schema = {
  type: "object",
  required: ["run", "fork"],
  properties: {
    run: runSummarySchema,
    fork: {
      type: "object",
      required: ["parent_run_id", "forked_from_step", "forked_from_artifact_id", "message"],
      properties: {
        parent_run_id: { type: "string", format: "uuid" },
        forked_from_step: step,
        forked_from_artifact_id: uuidOrNull,
        message: { type: "string", description: "What was done, for people." },
      },
    },
  },
};

/** Answer of GET /api/runs/{run_id}/lineage. */
export const lineageSchema: Schema = {
  type: "object",
  required: ["run", "parent", "children", "checkpoint_artifact", "children_total", "has_more_children", "limit"],
  properties: {
    run: runSummarySchema,
    parent: { oneOf: [runSummarySchema, { type: "null" }] },
    children: { type: "array", items: runSummarySchema, description: "Newest first, at most `limit`." },
    checkpoint_artifact: { type: ["object", "null"], description: "What the run was forked from." },
    children_total: { type: "integer", minimum: 0 },
    has_more_children: { type: "boolean" },
    limit: { type: "integer" },
  },
};
