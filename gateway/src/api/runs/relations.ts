import type { MessageInitShape } from "@bufbuild/protobuf";
import { LIST_METRIC_KEYS_MAX } from "@tidemark/limits";
import type {
  ForkRunRequestSchema,
  ForkRunResponse,
  GetLineageRequestSchema,
  GetLineageResponse,
} from "@tidemark/proto/runs/v1/runs";
import { route, type Route, type RouteInput, type RouteReply, type Schema } from "../../route.ts";
import { forkCallers, readCallers } from "../callers.ts";
import { artifactJson, artifactSchema } from "../artifacts/rows.ts";
import { documentBytes } from "../fields/document.ts";
import { boolean, described, list, object, optional, withDefault, withFault } from "../fields/field.ts";
import { step } from "../fields/number.ts";
import { WITHOUT_NUL, text, textOrAbsent, uuid } from "../fields/text.ts";
import { numberOrNullSchema, requireMessage, uuidOrNullSchema } from "../replies.ts";
import { pathRunId } from "./read.ts";
import { runSummarySchema, summaryJson } from "./rows.ts";

// The server sets them.
const LINEAGE_KEYS = ["lineage", "parent_run_id", "forked_from_step", "forked_from_artifact_id"];

/** Body of POST /api/runs/{run_id}/forks. */
const forkRunBody = object({
  name: described(textOrAbsent(), "Default: `fork-of-<parent>`, with `-step-<step>` where a step is given."),
  step: described(optional(step()), "The parent's step from which the child goes on."),
  checkpoint_artifact_id: described(optional(uuid()), "A checkpoint of the parent."),
  inherit_config: described(optional(boolean()), "Whether the child begins with the parent's config.", {
    default: true,
  }),
  notes: described(optional(text()), "Stored as metadata.notes."),
  config_overrides: described(documentBytes(), "Laid over the inherited config by top key."),
  tags: described(withDefault(list(text()), []), "Added to the parent's tags, with `forked`."),
  metadata: described(
    documentBytes(),
    "The child's metadata; nothing is inherited. The server sets the keys lineage, parent_run_id, forked_from_step and forked_from_artifact_id.",
    { propertyNames: { pattern: WITHOUT_NUL, not: { enum: LINEAGE_KEYS } } },
  ),
});

/** POST /api/runs/{run_id}/forks. Faults of the body travel with the request, because a missing run takes precedence. */
export function decodeForkRun(input: RouteInput): MessageInitShape<typeof ForkRunRequestSchema> {
  const base = { runId: pathRunId(input), idempotencyKey: input.idempotencyKey ?? "" };
  const { value, fault } = withFault(() => forkRunBody.read(input.body));
  if (value === undefined) return { ...base, bodyFault: fault };
  const { configOverrides, metadata, ...rest } = value;
  return { ...base, ...rest, configOverridesJson: configOverrides, metadataJson: metadata };
}

/** Answer of POST /api/runs/{run_id}/forks. */
const forkedRunSchema: Schema = {
  type: "object",
  required: ["run", "fork"],
  properties: {
    run: runSummarySchema,
    fork: {
      type: "object",
      required: ["parent_run_id", "forked_from_step", "forked_from_artifact_id", "message"],
      properties: {
        parent_run_id: { type: "string", format: "uuid" },
        forked_from_step: numberOrNullSchema,
        forked_from_artifact_id: uuidOrNullSchema,
        message: { type: "string", description: "What was done, for people." },
      },
    },
  },
};

/** `{run, fork}`: the child and its origin. */
export function encodeForkRun(response: ForkRunResponse): RouteReply {
  const summary = requireMessage(response.run);
  const run = requireMessage(summary.run);
  return {
    body: {
      run: summaryJson(summary),
      fork: {
        parent_run_id: run.parentRunId ?? null,
        forked_from_step: run.forkedFromStep ?? null,
        forked_from_artifact_id: run.forkedFromArtifactId ?? null,
        message: response.message,
      },
    },
    replayed: response.replayed,
  };
}

/** GET /api/runs/{run_id}/lineage. */
function decodeGetLineage(input: RouteInput): MessageInitShape<typeof GetLineageRequestSchema> {
  return { runId: pathRunId(input) };
}

/** Answer of GET /api/runs/{run_id}/lineage. */
const lineageSchema: Schema = {
  type: "object",
  required: ["run", "parent", "children", "checkpoint_artifact", "children_total", "has_more_children", "limit"],
  properties: {
    run: runSummarySchema,
    parent: { oneOf: [runSummarySchema, { type: "null" }] },
    children: { type: "array", items: runSummarySchema, description: "Newest first, at most `limit`." },
    checkpoint_artifact: {
      oneOf: [artifactSchema, { type: "null" }],
      description: "What the run was forked from.",
    },
    children_total: { type: "integer", minimum: 0 },
    has_more_children: { type: "boolean" },
    limit: { type: "integer" },
  },
};

/** A run with its relatives. */
export function encodeGetLineage(response: GetLineageResponse): RouteReply {
  const { run, parent, children, limit, checkpointArtifact } = response;
  const childrenTotal = Number(response.childrenTotal);
  return {
    body: {
      run: summaryJson(requireMessage(run)),
      parent: parent === undefined ? null : summaryJson(parent),
      children: children.map(summaryJson),
      checkpoint_artifact: checkpointArtifact === undefined ? null : artifactJson(checkpointArtifact),
      children_total: childrenTotal,
      has_more_children: childrenTotal > children.length,
      limit,
    },
  };
}

/** Forks and lineage of runs. */
export const relationsRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/runs/{run_id}/forks",
    tag: "runs",
    summary: "Fork a run",
    description:
      "Creates a running child in the same project, linked to its parent. Does not start a training, and copies no metrics and no artifacts.",
    callers: forkCallers,
    rate: "ingest",
    idempotency: "optional",
    body: "optional",
    exactNumbers: true,
    bareTokens: true,
    schemas: { body: forkRunBody.schema, response: forkedRunSchema },
    statuses: [200, 400, 401, 402, 403, 404, 409],
    decode: decodeForkRun,
    rpc: (clients, request, call) => clients.runs.forkRun(request, call),
    encode: encodeForkRun,
  }),
  route({
    method: "GET",
    path: "/api/runs/{run_id}/lineage",
    tag: "runs",
    summary: "Parent and children of a run",
    description: `At most ${LIST_METRIC_KEYS_MAX} metric keys of each run are shown. Relatives that the caller may not see are left out.`,
    callers: readCallers,
    rate: "general",
    idempotency: "none",
    schemas: { response: lineageSchema },
    statuses: [200, 401, 403, 404],
    decode: decodeGetLineage,
    rpc: (clients, request, call) => clients.runs.getLineage(request, call),
    encode: encodeGetLineage,
  }),
];
