import { rowsOfChunk } from "@tidemark/archive";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { notFound } from "@tidemark/errors";
import { OBJECT_KINDS, OBJECTS_PAGE_ROWS, TABLE_PAGE_ROWS } from "@tidemark/limits";
import type {
  ListObjectsRequestSchema,
  ListObjectsResponse,
  ListTableRowsRequestSchema,
  ListTableRowsResponse,
} from "@tidemark/proto/ingest/v1/objects";
import { createPauses } from "@tidemark/work";
import { raw, writeListInTurns } from "../../http/json.ts";
import type { RouteInput, RouteReply } from "../../route.ts";
import { object, withDefault, withFault } from "../fields/field.ts";
import { limit, offset } from "../fields/number.ts";
import { queryText, word } from "../fields/text.ts";
import { pageQuery } from "../page.ts";
import { pathRunId } from "../runs/read.ts";
import { objectJson } from "./rows.ts";

/** Query of GET /api/runs/{run_id}/objects. */
export const listObjectsQuery = object({
  kind: withDefault<string>(word(OBJECT_KINDS), ""),
  key: queryText({ description: "Exactly this key." }),
  limit: limit(OBJECTS_PAGE_ROWS),
  offset: offset(),
});

/** GET /api/runs/{run_id}/objects. Faults of the query travel in the message, because a missing run takes precedence. */
export function decodeListObjects(input: RouteInput): MessageInitShape<typeof ListObjectsRequestSchema> {
  const { value, fault } = withFault(() => listObjectsQuery.read(input.query));
  return { runId: pathRunId(input), ...value, queryFault: fault };
}

/** Returns about the bytes that a page holds in memory. */
export function heldByObjects({ objects }: ListObjectsResponse): number {
  return objects.reduce(
    (bytes, { valueJson, metadataJson, summaryJson }) =>
      bytes + valueJson.length + metadataJson.length + summaryJson.length,
    0,
  );
}

/** `{"objects": [row, …], "limit", "offset"}`. */
export async function encodeListObjects(
  { objects }: ListObjectsResponse,
  request: ReturnType<typeof decodeListObjects>,
): Promise<RouteReply> {
  const written = await writeListInTurns(objects, objectJson);
  return { body: { objects: written, limit: request.limit ?? 0, offset: request.offset ?? 0 } };
}

/** Query of GET /api/objects/{object_id}/rows. */
export const listTableRowsQuery = pageQuery(TABLE_PAGE_ROWS);

/** An object's own id, or the form that the list over runs writes. */
const OBJECT_ID = /^(?:attr:)?(\d{1,16})$/;

/**
 * GET /api/objects/{object_id}/rows. Faults of the query travel in the message.
 * @throws not_found for a text that cannot be an id
 */
export function decodeListTableRows({
  params,
  query,
}: RouteInput): MessageInitShape<typeof ListTableRowsRequestSchema> {
  const objectId = Number(OBJECT_ID.exec(params["object_id"]!)?.[1] ?? Number.NaN);
  if (!Number.isSafeInteger(objectId)) throw notFound("object");
  const { value, fault } = withFault(() => listTableRowsQuery.read(query));
  return { objectId, ...value, queryFault: fault };
}

/** `{"object_id", "rows": [{"row_index", "row", "created_at"}, …], "limit", "offset"}`. */
export async function encodeListTableRows(
  { chunks, firstRow, createdAt }: ListTableRowsResponse,
  { objectId = 0, limit: rows = 0, offset: skipped = 0 }: ReturnType<typeof decodeListTableRows>,
): Promise<RouteReply> {
  const texts: string[] = [];
  let chunkRow = firstRow;
  const pauseIfLong = createPauses();
  for (const chunk of chunks) {
    texts.push(...rowsOfChunk(chunk, Math.max(skipped - chunkRow, 0), skipped + rows - chunkRow));
    chunkRow += chunk.rowCount;
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
  }
  const end = `,"created_at":"${createdAt}"}`;
  const items = texts.map((text, i) => `{"row_index":${skipped + i},"row":${text}${end}`);
  return { body: { object_id: objectId, rows: raw(`[${items.join(",")}]`), limit: rows, offset: skipped } };
}
