import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ForkRunRequestSchema,
  ForkRunResponse,
  GetLineageRequestSchema,
  GetLineageResponse,
} from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import {
  readDocument,
  readOptionalBoolean,
  readOptionalStep,
  readOptionalText,
  readOptionalUuid,
  readTextList,
  withFault,
  type Fields,
} from "../fields/index.ts";
import { requireMessage } from "../replies.ts";
import { textOrNullSchema, uuidOrNullSchema } from "../schemas.ts";
import { pathRunId } from "./read.ts";
import { runSummarySchema, summaryJson } from "./rows.ts";

const step: Schema = { type: ["number", "null"], minimum: 0 };

const documentOrNull: Schema = { type: ["object", "null"], additionalProperties: true };

/** Body of POST /api/runs/{run_id}/forks. */
export const forkRunSchema: Schema = {
  type: "object",
  properties: {
    name: {
      ...textOrNullSchema,
      description: "Default: `fork-of-<parent>`, with `-step-<step>` where a step is given.",
    },
    step: { ...step, description: "The parent's step from which the child goes on." },
    checkpoint_artifact_id: { ...uuidOrNullSchema, description: "A checkpoint of the parent." },
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
    notes: { ...textOrNullSchema, minLength: 1, description: "Stored as metadata.notes." },
    metadata: {
      ...documentOrNull,
      description:
        "The child's metadata; nothing is inherited. The keys lineage, parent_run_id, forked_from_step and forked_from_artifact_id are the server's.",
    },
  },
};

type Request = MessageInitShape<typeof ForkRunRequestSchema>;

const utf8 = new TextEncoder();

/** POST /api/runs/{run_id}/forks. Faults of the body travel with the request, because a missing run goes first. */
export function decodeForkRun(input: RouteInput): Request {
  const base = { runId: pathRunId(input), idempotencyKey: input.idempotencyKey ?? "" };
  const { value, fault } = withFault(() => readFork(input.body));
  return fault === undefined ? { ...base, ...value } : { ...base, bodyFault: fault };
}

function readFork(body: Fields): Request {
  const name = readOptionalText(body, "name", { blank: "absent" });
  const step = readOptionalStep(body, "step");
  const checkpointArtifactId = readOptionalUuid(body, "checkpoint_artifact_id");
  const inheritConfig = readOptionalBoolean(body, "inherit_config");
  const notes = readOptionalText(body, "notes");
  return {
    ...(name === undefined ? {} : { name }),
    ...(step === undefined ? {} : { step }),
    ...(checkpointArtifactId === undefined ? {} : { checkpointArtifactId }),
    ...(inheritConfig === undefined ? {} : { inheritConfig }),
    ...(notes === undefined ? {} : { notes }),
    configOverridesJson: documentBytes(body, "config_overrides"),
    tags: readTextList(body, "tags") ?? [],
    metadataJson: documentBytes(body, "metadata"),
  };
}

function documentBytes(body: Fields, name: string): Uint8Array {
  return utf8.encode(readDocument(body, name, { unstorable: "replace" }));
}

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
export function decodeGetLineage(input: RouteInput): MessageInitShape<typeof GetLineageRequestSchema> {
  return { runId: pathRunId(input) };
}

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

/** A run with its relatives. Its checkpoint is always null, because artifacts cannot be created yet. */
export function encodeGetLineage(response: GetLineageResponse): RouteReply {
  const { run, parent, children, limit } = response;
  const childrenTotal = Number(response.childrenTotal);
  return {
    body: {
      run: summaryJson(requireMessage(run)),
      parent: parent === undefined ? null : summaryJson(parent),
      children: children.map(summaryJson),
      checkpoint_artifact: null,
      children_total: childrenTotal,
      has_more_children: childrenTotal > children.length,
      limit,
    },
  };
}
