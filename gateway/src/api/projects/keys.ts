import type { MessageInitShape } from "@bufbuild/protobuf";
import { KEYS_PAGE_ROWS, RUNS_PAGE_ROWS } from "@tidemark/limits";
import type { ListKeysRequestSchema, ListKeysResponse } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { object, withFault } from "../fields/field.ts";
import { limit } from "../fields/number.ts";
import { querySearch, queryText, WITHOUT_NUL } from "../fields/text.ts";
import { pathId } from "../parameters.ts";
import { runIdList } from "../runs/body-filter.ts";
import { countSchema, objectSchema, textOrNullSchema } from "../replies.ts";

const kind = queryText({ description: "Only keys of metrics, attributes or configs." });

/** Query of GET /api/projects/{project_id}/keys. */
export const listKeysQuery = object({
  prefix: queryText({ description: "Only keys that start with this text." }),
  q: querySearch(
    "A plain part of the name, ignoring the case of ASCII letters, or re:/…/ with RE2 syntax and at most 128 bytes.",
  ),
  kind: { ...kind, schema: { type: "string", pattern: WITHOUT_NUL, enum: ["metric", "attribute", "config"] } },
  run_ids: runIdList(
    RUNS_PAGE_ROWS.max,
    `Only keys of these runs, at most ${RUNS_PAGE_ROWS.max}, separated by commas.`,
  ),
  limit: limit(KEYS_PAGE_ROWS),
  cursor: queryText({ description: "next_cursor of the page before." }),
});

/** GET /api/projects/{project_id}/keys. Faults of the query travel in the message, because a missing project takes precedence. */
export function decodeListKeys(input: RouteInput): MessageInitShape<typeof ListKeysRequestSchema> {
  const projectId = pathId(input, "project_id");
  const { value, fault } = withFault(() => listKeysQuery.read(input.query));
  if (value === undefined) return { projectId, queryFault: fault };
  const { runIds, cursor, kind: of, ...rest } = value;
  return { ...rest, projectId, kind: of.trim(), cursor: cursor.trim(), runIds: [...(runIds ?? [])] };
}

/** Answer of GET /api/projects/{project_id}/keys. */
export const listKeysSchema: Schema = objectSchema({
  keys: {
    type: "array",
    description: "By name in code point order, then by kind.",
    items: objectSchema({
      name: { type: "string", description: "As in columns: config keys that are nested are joined by points." },
      kind: { type: "string", enum: ["metric", "attribute", "config"] },
      run_count: { ...countSchema, description: "How many runs have it." },
    }),
  },
  next_cursor: { ...textOrNullSchema, description: "Null on the last page." },
});

/** `{keys, next_cursor}`. */
export function encodeListKeys({ keys, nextCursor }: ListKeysResponse): RouteReply {
  return {
    body: {
      keys: keys.map(({ name, kind: of, runCount }) => ({ name, kind: of, run_count: Number(runCount) })),
      next_cursor: nextCursor === "" ? null : nextCursor,
    },
  };
}
