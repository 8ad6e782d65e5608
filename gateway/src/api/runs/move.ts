import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { BULK_UPDATE } from "@tidemark/limits";
import {
  RunCopyState,
  type CopyRunsRequestSchema,
  type CopyRunsResponse,
  type MoveRunsRequestSchema,
} from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { boolean, checked, described, list, object, optional, someOf, withDefault } from "../fields/field.ts";
import { text, uuid } from "../fields/text.ts";
import { countSchema, objectSchema, uuidSchema } from "../replies.ts";
import { hundredJson, hundredsSchema, listParameters } from "./change.ts";
import { readFilteredList } from "./list.ts";

/** Body of POST /api/runs/move and of POST /api/runs/copy. */
export const moveRunsBody = checked(
  object({
    filter: optional(listParameters),
    run_ids: described(
      optional(list(uuid(), { itemsMin: 1, itemsMax: BULK_UPDATE.runsMax })),
      "Repeated ids count once.",
    ),
    project: described(text(), "Name of the project, which is made when it is missing."),
    dry_run: withDefault(boolean(), false),
  }),
  ({ filter, runIds }) => {
    if ((filter === undefined) === (runIds === undefined)) {
      throw badRequest("either filter or run_ids is required", filter === undefined ? "filter" : "run_ids");
    }
  },
  { oneOf: [someOf("filter"), someOf("run_ids")] },
);

/** POST /api/runs/move and POST /api/runs/copy, which take the same. @throws bad_request */
export function decodeMoveRuns(
  input: RouteInput,
): MessageInitShape<typeof MoveRunsRequestSchema> & MessageInitShape<typeof CopyRunsRequestSchema> {
  const { filter, runIds, project, dryRun } = moveRunsBody.read(input.body);
  return {
    ...(filter === undefined ? { runIds: runIds! } : readFilteredList(filter)),
    project,
    dryRun,
    idempotencyKey: input.idempotencyKey ?? "",
  };
}

const stateNames: Readonly<Partial<Record<RunCopyState, string>>> = {
  [RunCopyState.COPIED]: "copied",
  [RunCopyState.COPYING]: "copying",
  [RunCopyState.GONE]: "gone",
};

/** Response of POST /api/runs/copy: that of a bulk update, and the copies. */
export const copyRunsSchema: Schema = hundredsSchema(
  { copying: { ...countSchema, description: "Copies that are not complete yet. They appear when they are." } },
  {
    copies: {
      type: "array",
      maxItems: BULK_UPDATE.together,
      description: "One for each run, in their order; empty where it did not go well, and in a dry run.",
      items: objectSchema({
        run_id: uuidSchema,
        copy_id: { ...uuidSchema, description: "The same for each repetition under one Idempotency-Key." },
        state: {
          type: "string",
          enum: Object.values(stateNames),
          description:
            "gone: the run or the project was deleted before the copy was complete, or the copy was deleted since.",
        },
      }),
    },
  },
);

/** `{matched, updated, failed, copying, results}`. */
export function encodeCopyRuns({ matched, updated, failed, copying, results, replayed }: CopyRunsResponse): RouteReply {
  const resultJson = ({ copies, ...result }: CopyRunsResponse["results"][number]) => ({
    ...hundredJson(result),
    copies: copies.map(({ runId, copyId, state }) => ({ run_id: runId, copy_id: copyId, state: stateNames[state]! })),
  });
  return { body: { matched, updated, failed, copying, results: results.map(resultJson) }, replayed };
}
