import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type { UpdateRunRequestSchema, UpdateRunResponse } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply } from "../../route.ts";
import { checked, described, list, object, optional, someOf, withFault } from "../fields/field.ts";
import { maybeBlankText, text, word } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { pathRunId } from "./read.ts";
import { RUN_STATUSES, runJson } from "./rows.ts";

/** Body of PATCH /runs/{run_id}. */
export const updateRunBody = checked(
  object({
    name: optional(text()),
    status: optional(word(RUN_STATUSES)),
    tags: described(optional(list(text())), "Replaces all tags."),
    notes: described(optional(maybeBlankText()), "The empty text removes the notes."),
  }),
  (fields) => {
    if (Object.values(fields).every((field) => field === undefined)) {
      throw badRequest("one of name, status, tags and notes is required");
    }
  },
  someOf("name", "status", "tags", "notes"),
);

/** PATCH /runs/{run_id}. Faults of the body travel with the request, because a missing run takes precedence. */
export function decodeUpdateRun(input: RouteInput): MessageInitShape<typeof UpdateRunRequestSchema> {
  const { value, fault } = withFault(() => updateRunBody.read(input.body));
  const tags = value?.tags === undefined ? undefined : { tags: value.tags };
  return { runId: pathRunId(input), ...value, tags, bodyFault: fault };
}

/** `{run}` with the run row. */
export function encodeUpdateRun({ run }: UpdateRunResponse): RouteReply {
  return { body: { run: runJson(requireMessage(run)) } };
}
