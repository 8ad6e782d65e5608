import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  BulkUpdateRunsRequestSchema,
  BulkUpdateRunsResponse,
  DeleteRunResponse,
  Run,
  UndeleteRunResponse,
  UpdateRunRequestSchema,
  UpdateRunResponse,
} from "@tidemark/proto/runs/v1/runs";
import { createCall, type Call } from "@tidemark/rpc";
import { BULK_UPDATE } from "@tidemark/limits";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import type { Clients } from "../../clients.ts";
import {
  boolean,
  checked,
  described,
  list,
  object,
  optional,
  someOf,
  withDefault,
  withFault,
} from "../fields/field.ts";
import { maybeBlankText, text, uuid, word } from "../fields/text.ts";
import { countSchema, objectSchema, requireMessage, uuidSchema } from "../replies.ts";
import {
  deletionJson,
  deletionQuery,
  measureRemoved,
  removedJson,
  withDeletion,
  type Removed,
} from "../deletion/deletion.ts";
import { pathRunId } from "./read.ts";
import { RUN_STATUSES, runJson, runSchema } from "./rows.ts";
import { textParameters } from "./body-filter.ts";
import { readFilteredList, selectionProperties } from "./list.ts";

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

/** A run row that says whether it is deleted. */
export const deletableRunSchema: Schema = withDeletion(runSchema);

/** DELETE /runs/{run_id}. @throws bad_request */
export function decodeDeleteRun(input: RouteInput): { runId: string; dryRun: boolean } {
  return { runId: pathRunId(input), dryRun: deletionQuery.read(input.query).dryRun };
}

/** Deletes a run, or measures what would be removed. */
export async function deleteRun(
  clients: Clients,
  request: { readonly runId: string; readonly dryRun: boolean },
  call: Call,
): Promise<DeleteRunResponse | Removed> {
  if (!request.dryRun) return afterRunChange(clients.runs.deleteRun(request, call), clients, call);
  await clients.runs.deleteRun(request, call);
  return measureRemoved(clients, { runId: request.runId }, call);
}

/** `{run}`, or `{counts, bytes}` of a dry run. */
export function encodeDeleteRun(reply: DeleteRunResponse | Removed): RouteReply {
  return "points" in reply ? { body: removedJson(reply) } : encodeRestoreRun(reply);
}

/** POST /runs/{run_id}/restore. */
export function decodeRestoreRun(input: RouteInput): { runId: string } {
  return { runId: pathRunId(input) };
}

/** `{run}`. */
export function encodeRestoreRun({ run }: DeleteRunResponse | UndeleteRunResponse): RouteReply {
  const row: Run = requireMessage(run);
  return { body: { run: { ...runJson(row), ...deletionJson(row.deletion) } } };
}

/** Milliseconds that a change waits until the process that answers stop signals knows of it. */
const PATIENCE_MS = 1000;

/**
 * Waits until the control service knows that a run's status has changed, so that the next stop signal
 * shows it. The change is already stored: a control service that does not answer learns of it by itself.
 */
export async function afterRunChange<T>(change: Promise<T>, clients: Clients, call: Call): Promise<T> {
  const result = await change;
  const { requestId, traceparent, deadlineMs } = call;
  const timeoutMs = Math.min(PATIENCE_MS, deadlineMs - Date.now());
  await clients.control.catchUpRuns({}, createCall({ requestId, traceparent, timeoutMs })).catch(() => {});
  return result;
}

/** The runs of a list, in a body. */
export const listParameters = textParameters(
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

/** The response of a request that changes runs in hundreds, with what one route says more: of all, and of each hundred. */
export function hundredsSchema(
  ofAll: Readonly<Record<string, Schema>>,
  ofEach: Readonly<Record<string, Schema>>,
): Schema {
  return objectSchema({
    matched: { ...countSchema, description: "Different runs that were named or found." },
    updated: { ...countSchema, description: "0 in a dry run." },
    failed: { ...countSchema, description: "Runs of hundreds that did not change, or in a dry run would not." },
    ...ofAll,
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
          ...ofEach,
        },
        ["error"],
      ),
    },
  });
}

/** `{matched, updated, failed, results}`. */
export const bulkUpdateSchema: Schema = hundredsSchema({}, {});

/** `{matched, updated, failed, results}`. */
export function encodeBulkUpdate({
  matched,
  updated,
  failed,
  results,
  replayed,
}: Omit<BulkUpdateRunsResponse, "$typeName">): RouteReply {
  return { body: { matched, updated, failed, results: results.map(hundredJson) }, replayed };
}

/** The result of a hundred as JSON. */
export function hundredJson({
  runIds,
  ok,
  error,
}: Pick<BulkUpdateRunsResponse["results"][number], "runIds" | "ok" | "error">) {
  return { run_ids: runIds, ok, ...(ok ? {} : { error }) };
}
