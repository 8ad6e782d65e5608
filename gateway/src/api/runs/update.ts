import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type { UpdateRunRequestSchema, UpdateRunResponse } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { readOptionalEnum, readOptionalText, readTextList, withFault, type Fields } from "../fields/index.ts";
import { requireMessage } from "../replies.ts";
import { textOrNullSchema } from "../schemas.ts";
import { pathRunId } from "./read.ts";
import { RUN_STATUSES, runJson } from "./rows.ts";

/** Body of PATCH /runs/{run_id}. */
export const updateRunSchema: Schema = {
  type: "object",
  properties: {
    status: { type: ["string", "null"], enum: [...RUN_STATUSES, null] },
    tags: { type: ["array", "null"], items: { type: "string", minLength: 1 }, description: "Replaces all tags." },
    notes: { ...textOrNullSchema, description: "The empty text removes the notes." },
  },
};

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

/** `{run}` with the run row. */
export function encodeUpdateRun({ run }: UpdateRunResponse): RouteReply {
  return { body: { run: runJson(requireMessage(run)) } };
}
