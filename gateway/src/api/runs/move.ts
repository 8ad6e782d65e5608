import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { BULK_UPDATE } from "@tidemark/limits";
import type { MoveRunsRequestSchema } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput } from "../../route.ts";
import { boolean, checked, described, list, object, optional, someOf, withDefault } from "../fields/field.ts";
import { text, uuid } from "../fields/text.ts";
import { listParameters } from "./change.ts";
import { readFilteredList } from "./list.ts";

/** Body of POST /api/runs/move. */
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

/** POST /api/runs/move. @throws bad_request */
export function decodeMoveRuns(input: RouteInput): MessageInitShape<typeof MoveRunsRequestSchema> {
  const { filter, runIds, project, dryRun } = moveRunsBody.read(input.body);
  return {
    ...(filter === undefined ? { runIds: runIds! } : readFilteredList(filter)),
    project,
    dryRun,
    idempotencyKey: input.idempotencyKey ?? "",
  };
}
