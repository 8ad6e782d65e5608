import type { MessageInitShape } from "@bufbuild/protobuf";
import { AppError, isAppError } from "@tidemark/errors";
import { EXPLORER_KEY_BYTES_MAX, EXPLORER_PAGE_ROWS, OBJECT_KINDS } from "@tidemark/limits";
import type {
  ExploredObject,
  ExploreObjectsRequestSchema,
  ExploreObjectsResponse,
} from "@tidemark/proto/ingest/v1/objects";
import { writeListInTurns, type Json } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { checked, described, object, withDefault } from "../fields/field.ts";
import { limit, queryNumber } from "../fields/number.ts";
import { querySearch, queryText, textOrEmpty, uuid, word } from "../fields/text.ts";
import {
  booleanSchema,
  countSchema,
  listSchema,
  numberOrNullSchema,
  objectSchema,
  requireMessage,
  textOrNull,
  textOrNullSchema,
  textSchema,
  timeSchema,
  uuidOrNullSchema,
  uuidSchema,
} from "../replies.ts";
import { documentJson, linkJson, linkSchema } from "./objects.ts";

/** What the list shows: objects, and texts when they are asked for. */
const KINDS = [...OBJECT_KINDS, "text"] as const;

/** Query of GET /api/objects/explorer. */
export const exploreObjectsQuery = checked(
  object({
    project: queryText({ description: "Name of a project." }),
    project_id: queryText({ description: "Id of a project." }),
    q: querySearch("A search text of the list of runs; it may find at most 100 runs."),
    kind: described(
      withDefault<string>(word(KINDS), ""),
      "`text` are attributes of type string_series, which are left out unless asked for.",
    ),
    key: described(textOrEmpty({ bytesMax: EXPLORER_KEY_BYTES_MAX }), "A part of the key."),
    run_id: withDefault<string>(uuid(), ""),
    from_step: queryNumber({ min: 0 }),
    to_step: queryNumber({ min: 0 }),
    limit: limit(EXPLORER_PAGE_ROWS),
    cursor: queryText({ description: "`next_cursor` of the page before." }),
  }),
  ({ fromStep, toStep }) => {
    if (fromStep === undefined || toStep === undefined || fromStep <= toStep) return;
    throw new AppError("object_explorer_invalid", "from_step must not be above to_step", { field: "from_step" });
  },
);

/** GET /api/objects/explorer. @throws object_explorer_invalid */
export function decodeExploreObjects({ query }: RouteInput): MessageInitShape<typeof ExploreObjectsRequestSchema> {
  try {
    return exploreObjectsQuery.read(query);
  } catch (error) {
    if (!isAppError(error) || error.reason !== "bad_request") throw error;
    throw new AppError(
      "object_explorer_invalid",
      error.message,
      error.field === undefined ? {} : { field: error.field },
    );
  }
}

/** Answer of GET /api/objects/explorer. */
export const exploreObjectsSchema: Schema = objectSchema({
  objects: listSchema(
    objectSchema({
      object_id: { type: "string", pattern: "^attr:\\d+$" },
      id: { type: "integer" },
      run_id: uuidSchema,
      run_name: textSchema,
      project: textSchema,
      kind: { type: "string", enum: KINDS },
      key: textSchema,
      step: numberOrNullSchema,
      created_at: timeSchema,
      logged_at: timeSchema,
      summary: { type: "object" },
      metadata: { type: "object" },
      preview: objectSchema(
        {
          text: { type: "string", description: "The beginning of the value." },
          truncated: booleanSchema,
          histogram: { type: "object", description: "The value of a histogram." },
          evaluation: { type: "object", description: "The value of a classification_eval." },
        },
        ["histogram", "evaluation"],
      ),
      artifact_id: uuidOrNullSchema,
      artifact: linkSchema,
    }),
  ),
  next_cursor: textOrNullSchema,
  limit: countSchema,
  page_info: objectSchema({ pagination: { const: "cursor" }, has_next_page: booleanSchema }),
});

/** `{"objects": [item, …], "next_cursor", "limit", "page_info"}`. */
export async function encodeExploreObjects(
  response: ExploreObjectsResponse,
  request: ReturnType<typeof decodeExploreObjects>,
): Promise<RouteReply> {
  return {
    body: {
      objects: await writeListInTurns(response.objects, exploredJson),
      next_cursor: textOrNull(response.nextCursor),
      limit: request.limit ?? 0,
      page_info: { pagination: "cursor", has_next_page: response.nextCursor !== "" },
    },
  };
}

function exploredJson(explored: ExploredObject): Json {
  const found = requireMessage(explored.object);
  const value = found.valueJson.length === 0 ? undefined : documentJson(found.valueJson);
  return {
    object_id: `attr:${found.id}`,
    id: found.id,
    run_id: found.runId,
    run_name: explored.runName,
    project: explored.project,
    kind: found.kind,
    key: found.key,
    step: found.step ?? null,
    created_at: found.createdAt,
    logged_at: explored.loggedAt,
    summary: documentJson(found.summaryJson),
    metadata: documentJson(found.metadataJson),
    preview: {
      text: explored.preview,
      truncated: explored.previewTruncated,
      histogram: found.kind === "histogram" ? value : undefined,
      evaluation: found.kind === "classification_eval" ? value : undefined,
    },
    artifact_id: textOrNull(found.artifactId),
    artifact: linkJson(found.artifact),
  };
}
