import type { ForkRunResponse, GetLineageResponse } from "@tidemark/proto/runs/v1/runs";
import type { RouteReply } from "../route.ts";
import { requireMessage } from "./runs-message.ts";
import { summaryJson } from "./runs-reply.ts";

/** `{run, fork}`: the child, and where it comes from. */
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

/** A run with its relatives. No artifact can have been its checkpoint: nothing can create artifacts yet. */
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
