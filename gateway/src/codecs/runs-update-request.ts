import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type { UpdateRunRequestSchema } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput } from "../route.ts";
import { readOptionalEnum, readOptionalText, readTextList, withFault, type Fields } from "./fields.ts";
import { pathRunId } from "./runs-get-request.ts";

/** What a run's status can be set to. */
export const RUN_STATUSES = ["running", "finished", "failed"] as const;

/** PATCH /runs/{run_id}. Faults of the body travel with the request, because a missing run goes first. */
export function decodeUpdateRun(input: RouteInput): MessageInitShape<typeof UpdateRunRequestSchema> {
  const runId = pathRunId(input);
  const { value, fault } = withFault(() => readChanges(input.body));
  return fault === undefined ? { runId, ...value } : { runId, bodyFault: fault };
}

function readChanges(body: Fields): { status?: string; tags?: { tags: string[] }; notes?: string } {
  const status = readOptionalEnum(body, "status", RUN_STATUSES);
  const tags = readTextList(body, "tags");
  const notes = readOptionalText(body, "notes", { blank: "empty" });
  if (status === undefined && tags === undefined && notes === undefined) {
    throw badRequest("one of status, tags and notes is required");
  }
  return {
    ...(status === undefined ? {} : { status }),
    ...(tags === undefined ? {} : { tags: { tags } }),
    ...(notes === undefined ? {} : { notes }),
  };
}
