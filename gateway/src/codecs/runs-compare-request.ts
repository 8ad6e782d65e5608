import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type { CompareRunsRequestSchema } from "@tidemark/proto/runs/v1/runs";
import type { Query, RouteInput } from "../route.ts";
import { canonicalUuid, readQueryBoolean } from "./fields.ts";

/** Most runs beside each other (API specification, Limits). */
export const COMPARED_RUNS_MAX = 50;

/**
 * GET /api/runs/side-by-side. Runs are named by `run_ids`, or by `runs` where that is left out; parts
 * between two commas may be blank, and what is named twice counts once.
 * @throws bad_request
 */
export function decodeCompareRuns({ query }: RouteInput): MessageInitShape<typeof CompareRunsRequestSchema> {
  const runIds = readIds(query, query["run_ids"] === undefined ? "runs" : "run_ids");
  const reference = canonicalUuid(query["reference_run_id"]?.trim());
  return { runIds, referenceRunId: reference ?? "", diffOnly: readQueryBoolean(query, "diff_only") };
}

function readIds(query: Query, name: string): string[] {
  const parts = (query[name] ?? "").split(",").map((part) => part.trim());
  const ids = new Set(parts.filter((part) => part !== "").map((part) => requireUuid(part, name)));
  if (ids.size === 0) throw badRequest("run_ids is required", "run_ids");
  if (ids.size > COMPARED_RUNS_MAX) throw badRequest(`${name} may name at most ${COMPARED_RUNS_MAX} runs`, name);
  return [...ids];
}

function requireUuid(part: string, name: string): string {
  const id = canonicalUuid(part);
  if (id === undefined) throw badRequest(`${name} must be UUIDs, separated by commas`, name);
  return id;
}
