import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetLineageRequestSchema } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput } from "../route.ts";
import { pathRunId } from "./runs-get-request.ts";

/** GET /api/runs/{run_id}/lineage. */
export function decodeGetLineage(input: RouteInput): MessageInitShape<typeof GetLineageRequestSchema> {
  return { runId: pathRunId(input) };
}
