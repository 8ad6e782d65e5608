import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { BULK_UPDATE } from "@tidemark/limits";
import type { BulkUpdateRunsRequestSchema, BulkUpdateRunsResponse } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { boolean, checked, described, list, object, optional, someOf, withDefault } from "../fields/field.ts";
import { maybeBlankText, text, uuid, word } from "../fields/text.ts";
import { countSchema, objectSchema, uuidSchema } from "../schemas.ts";
import { textParameters } from "./body-filter.ts";
import { readFilteredList, selectionProperties } from "./list.ts";
import { RUN_STATUSES } from "./rows.ts";

const listParameters = textParameters(
  selectionProperties,
  `The parameters of GET /runs. Without a limit all runs that pass, at most ${BULK_UPDATE.runsMax}.`,
);

const settings = checked(
  object({
    status: optional(word(RUN_STATUSES)),
    tags: described(optional(list(text())), "Replaces all tags."),
    notes: described(optional(maybeBlankText()), "The empty text removes the notes."),
  }),
  (fields) => {
    if (Object.values(fields).every((field) => field === undefined)) {
      throw badRequest("set needs one of status, tags and notes", "set");
    }
  },
  someOf("status", "tags", "notes"),
);

/** Body of POST /api/runs/bulk-update. */
export const bulkUpdateBody = checked(
  object({
    filter: optional(listParameters),
    run_ids: described(
      optional(list(uuid(), { itemsMin: 1, itemsMax: BULK_UPDATE.runsMax })),
      "Repeated ids count once.",
    ),
    set: described(settings, "What changes in every one of the runs."),
    dry_run: withDefault(boolean(), false),
  }),
  ({ filter, runIds }) => {
    if ((filter === undefined) === (runIds === undefined)) {
      throw badRequest("either filter or run_ids is required", filter === undefined ? "filter" : "run_ids");
    }
  },
  { oneOf: [someOf("filter"), someOf("run_ids")] },
);

/** POST /api/runs/bulk-update. @throws bad_request */
export function decodeBulkUpdate(input: RouteInput): MessageInitShape<typeof BulkUpdateRunsRequestSchema> {
  const { filter, runIds, set, dryRun } = bulkUpdateBody.read(input.body);
  const { tags, ...rest } = set;
  return {
    ...(filter === undefined ? { runIds: runIds! } : readFilteredList(filter)),
    ...rest,
    tags: tags === undefined ? undefined : { tags },
    dryRun,
    idempotencyKey: input.idempotencyKey ?? "",
  };
}

/** `{matched, updated, failed, results}`. */
export const bulkUpdateSchema: Schema = objectSchema({
  matched: { ...countSchema, description: "Different runs that were named or found." },
  updated: { ...countSchema, description: "0 in a dry run." },
  failed: { ...countSchema, description: "Runs of hundreds that did not change, or in a dry run would not." },
  results: {
    type: "array",
    description: "One for each hundred, which changes as a whole or not at all.",
    items: objectSchema(
      {
        run_ids: { type: "array", minItems: 1, maxItems: BULK_UPDATE.together, items: uuidSchema },
        ok: { type: "boolean" },
        error: {
          type: "string",
          enum: ["not_found_or_unauthorized", "not_reached"],
          description:
            "not_reached: the time of the request was up; sent again with its Idempotency-Key, it goes on there.",
        },
      },
      ["error"],
    ),
  },
});

/** `{matched, updated, failed, results}`. */
export function encodeBulkUpdate({ matched, updated, failed, results, replayed }: BulkUpdateRunsResponse): RouteReply {
  const resultJson = ({ runIds, ok, error }: BulkUpdateRunsResponse["results"][number]) => ({
    run_ids: runIds,
    ok,
    ...(ok ? {} : { error }),
  });
  return { body: { matched, updated, failed, results: results.map(resultJson) }, replayed };
}
