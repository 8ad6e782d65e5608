import { OBJECT_KINDS, OBJECTS_PAGE_ROWS, TABLE_PAGE_ROWS } from "@tidemark/limits";
import type {
  LinkedArtifact,
  ListObjectsRequestSchema,
  ListObjectsResponse,
  ListTableRowsRequestSchema,
  ListTableRowsResponse,
  RichObject,
} from "@tidemark/proto/ingest/v1/objects";
import { rowsOfChunk } from "@tidemark/archive";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { notFound } from "@tidemark/errors";
import { createPauses } from "@tidemark/work";
import { raw, writeListInTurns, type Json } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import {
  numberOrNullSchema,
  objectSchema,
  textOrNull,
  textSchema,
  timeSchema,
  uuidOrNullSchema,
  uuidSchema,
} from "../replies.ts";
import { join, object, withDefault, withFault } from "../fields/field.ts";
import { limit, offset } from "../fields/number.ts";
import { queryText, word } from "../fields/text.ts";
import { pageQuery } from "../parameters.ts";
import { pathRunId } from "../runs/read.ts";

const utf8 = new TextDecoder();

/** Returns a document as it was sent. */
export function documentJson(bytes: Uint8Array): Json {
  return raw(utf8.decode(bytes));
}

/** An artifact that an object shows, or null. */
export const linkSchema: Schema = {
  anyOf: [
    objectSchema({
      id: uuidSchema,
      name: textSchema,
      uri: textSchema,
      mime_type: textSchema,
      size_bytes: { type: ["integer", "null"], minimum: 0 },
      storage_backend: { type: "string", enum: ["external", "local", "r2"] },
    }),
    { type: "null" },
  ],
  description: "Null also when the artifact was deleted.",
};

/** An object without the rows of a table. */
export const richObjectSchema = objectSchema({
  id: { type: "integer" },
  org_id: uuidSchema,
  run_id: uuidSchema,
  key: textSchema,
  kind: { type: "string", enum: OBJECT_KINDS },
  step: numberOrNullSchema,
  value: {},
  metadata: { type: "object" },
  summary: { type: "object" },
  artifact_id: uuidOrNullSchema,
  artifact: linkSchema,
  created_at: timeSchema,
});

/** Writes an object; its documents have the digits that were sent. */
export function objectJson(object: RichObject): Json {
  return {
    id: object.id,
    org_id: object.orgId,
    run_id: object.runId,
    key: object.key,
    kind: object.kind,
    step: object.step ?? null,
    value: documentJson(object.valueJson),
    metadata: documentJson(object.metadataJson),
    summary: documentJson(object.summaryJson),
    artifact_id: textOrNull(object.artifactId),
    artifact: linkJson(object.artifact),
    created_at: object.createdAt,
  };
}

/** Writes the artifact of an object. */
export function linkJson(link: LinkedArtifact | undefined): Json {
  if (link === undefined) return null;
  return {
    id: link.id,
    name: link.name,
    uri: link.uri,
    mime_type: link.mimeType,
    size_bytes: link.sizeBytes ?? null,
    storage_backend: link.storageBackend,
  };
}

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
export function heldByObjects({ objects }: Pick<ListObjectsResponse, "objects">): number {
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
export const listTableRowsQuery = join(
  pageQuery(TABLE_PAGE_ROWS),
  object({
    sort_by: queryText({
      description: "Name of a column: numbers first, then texts by code point, then all else; missing values last.",
    }),
    sort_dir: withDefault<string>(word(["asc", "desc"]), "asc", { default: "asc" }),
    filter: queryText({
      description:
        'Conditions that all hold: `loss<0.5 "val acc">=0.9 label="cat" -ok=true`, with `<`, `<=`, `>`, `>=`, `=` and `!=`, at most 512 bytes. A missing value fulfills none.',
    }),
    q: queryText({ description: "A part of the text of any cell, ignoring ASCII case." }),
  }),
);

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
  const objectId = readObjectId(params["object_id"]!);
  const { value, fault } = withFault(() => listTableRowsQuery.read(query));
  const { sortDir, sortBy = "", ...same } = value ?? {};
  return { objectId, ...same, sortBy: sortBy.trim(), descending: sortDir === "desc", queryFault: fault };
}

/** Reads the id of an object in a path. @throws not_found for a text that cannot be one */
export function readObjectId(text: string): number {
  const objectId = Number(OBJECT_ID.exec(text)?.[1] ?? Number.NaN);
  if (!Number.isSafeInteger(objectId)) throw notFound("object");
  return objectId;
}

/** `{"object_id", "rows": [{"row_index", "row", "created_at"}, …], "limit", "offset"}`, and `total` of a selection. */
export async function encodeListTableRows(
  { chunks, firstRow, createdAt, selected }: ListTableRowsResponse,
  { objectId = 0, limit: rows = 0, offset: skipped = 0 }: ReturnType<typeof decodeListTableRows>,
): Promise<RouteReply> {
  const end = `,"created_at":"${createdAt}"}`;
  const answer = (items: readonly string[]) => ({
    object_id: objectId,
    rows: raw(`[${items.join(",")}]`),
    limit: rows,
    offset: skipped,
    total: selected?.total,
  });
  if (selected !== undefined) {
    const { rowsJson, rowIndexes } = selected;
    return { body: answer(rowsJson.map((row, i) => `{"row_index":${rowIndexes[i]},"row":${row}${end}`)) };
  }
  const texts: string[] = [];
  let chunkRow = firstRow;
  const pauseIfLong = createPauses();
  for (const chunk of chunks) {
    texts.push(...rowsOfChunk(chunk, Math.max(skipped - chunkRow, 0), skipped + rows - chunkRow));
    chunkRow += chunk.rowCount;
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
  }
  return { body: answer(texts.map((text, i) => `{"row_index":${skipped + i},"row":${text}${end}`)) };
}
