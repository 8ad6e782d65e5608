import type { MessageInitShape } from "@bufbuild/protobuf";
import { VERSIONS_PAGE_ROWS } from "@tidemark/limits";
import type { ListVersionsOfRunRequestSchema, ListVersionsOfRunResponse } from "@tidemark/proto/artifacts/v1/versions";
import type { RouteInput, RouteReply } from "../../route.ts";
import { withFault } from "../fields/field.ts";
import { pageQuery, readPage } from "../parameters.ts";
import { objectSchema, requireMessage } from "../replies.ts";
import { pathRunId } from "../runs/read.ts";
import { pageJson, versionJson, versionSchema } from "./rows.ts";

/** Query of GET /api/runs/{run_id}/artifact-versions. */
export const listVersionsOfRunQuery = pageQuery(VERSIONS_PAGE_ROWS);

/** GET /api/runs/{run_id}/artifact-versions. Faults of the query travel in the message. */
export function decodeListVersionsOfRun(input: RouteInput): MessageInitShape<typeof ListVersionsOfRunRequestSchema> {
  const { value: page, fault } = withFault(() => readPage(listVersionsOfRunQuery, input.query));
  return { runId: pathRunId(input), ...(page === undefined ? {} : { page }), queryFault: fault };
}

/** A version of GET /api/runs/{run_id}/artifact-versions. */
export const versionOfRunSchema = objectSchema({
  direction: {
    type: "string",
    enum: ["input", "output"],
    description: "`input`: the run used it; `output`: it made it.",
  },
  artifact_version: versionSchema,
});

/** `{"artifact_versions": [{direction, artifact_version}, …], limit, offset, total, has_more}` */
export function encodeListVersionsOfRun(response: ListVersionsOfRunResponse): RouteReply {
  const rows = response.versions.map(({ version, direction }) => ({
    direction,
    artifact_version: versionJson(requireMessage(version)),
  }));
  return { body: pageJson("artifact_versions", rows, response) };
}
