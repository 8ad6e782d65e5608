import { readDocument, type ExactObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import {
  MEDIA_KINDS,
  OBJECT_DOCUMENT_BYTES_MAX,
  OBJECT_KINDS,
  OBJECT_VALUE_BYTES_MAX,
  PAGE_BYTES_MAX,
  TABLE_CHUNK_ROWS,
  TABLE_COLUMNS_MAX,
  TABLE_ROWS_MAX,
} from "@tidemark/limits";
import type { CreateObjectRequest, TableChunk } from "@tidemark/proto/ingest/v1/objects";

/** A stored chunk of a table. */
export type PackedChunk = {
  /** A byte that says how, then the message, compressed when that makes it smaller. */
  readonly rows: Buffer;
  /** Logical bytes: of the JSON texts of the cells, and one for each cell. */
  readonly bytes: number;
};

/** Returns whether the value of objects of a kind is a file. */
export function isMedia(kind: string): boolean {
  return MEDIA_KINDS.some((known) => known === kind);
}

/**
 * Checks the rules for every client of the service, regardless of who made the message. The caller checks the content of documents.
 * @throws bad_request
 */
export function checkObject(request: CreateObjectRequest): void {
  const { kind, artifactId, chunks } = request;
  if (!OBJECT_KINDS.some((known) => known === kind)) {
    throw badRequest(`kind must be one of ${OBJECT_KINDS.join(", ")}`, "kind");
  }
  if (isMedia(kind) && artifactId === "") throw badRequest("artifact_id is required", "artifact_id");
  if (request.step !== undefined && !(request.step >= 0 && Number.isFinite(request.step))) {
    throw badRequest("step must be a finite number of at least 0", "step");
  }
  requireBytes(request.metadataJson, "metadata", OBJECT_DOCUMENT_BYTES_MAX);
  requireBytes(request.summaryJson, "summary", OBJECT_DOCUMENT_BYTES_MAX);
  requireBytes(request.valueJson, "value", OBJECT_VALUE_BYTES_MAX);
  if (kind !== "table" && chunks.length > 0) throw badRequest("only tables have rows", "rows");
  if (!areChunks(chunks)) throw badRequest("the chunks of the table do not fit together", "rows");
}

function requireBytes(document: Uint8Array, name: string, bytesMax: number): void {
  if (document.length > bytesMax) throw badRequest(`${name} must have at most ${bytesMax} bytes`, name);
}

/** Returns whether chunks are the rows of one request, within the limits, and fit one page. */
export function areChunks(chunks: readonly TableChunk[]): boolean {
  const last = chunks.length - 1;
  let bytes = 0;
  return (
    chunks.length <= TABLE_ROWS_MAX / TABLE_CHUNK_ROWS &&
    chunks.every((chunk, i) => {
      for (const column of chunk.columns) bytes += column.length;
      const fills = chunk.rowCount === TABLE_CHUNK_ROWS || (i === last && chunk.rowCount > 0);
      return fills && chunk.rowCount <= TABLE_CHUNK_ROWS && isChunk(chunk) && bytes <= PAGE_BYTES_MAX;
    })
  );
}

function isChunk({ names, shapes, rowShapes, rowCount, columns }: TableChunk): boolean {
  return (
    columns.length === names.length &&
    shapes.length > 0 &&
    shapes.every(
      (shape) =>
        shape.names.length <= TABLE_COLUMNS_MAX &&
        new Set(shape.names).size === shape.names.length &&
        shape.names.every((name) => name < names.length),
    ) &&
    (rowShapes.length === 0 || rowShapes.length === rowCount) &&
    rowShapes.every((shape) => shape < shapes.length)
  );
}

/** Facts of the artifact, which are added to the summary of media when it is stored. */
const ARTIFACT_FACTS: ReadonlySet<string> = new Set(["artifact_name", "artifact_uri", "mime_type", "size_bytes"]);

/**
 * Returns the summary of an object as JSON: of a table with `row_count` and `columns` (those of the first row) where the client sent none, of a
 * medium without the facts of its artifact.
 * @throws bad_request when it is not a JSON object
 */
export function summaryOf({ kind, summaryJson, chunks }: CreateObjectRequest): string {
  const sent = readDocument(summaryJson, "summary");
  if (isMedia(kind)) {
    return JSON.stringify(Object.fromEntries(Object.entries(sent).filter(([name]) => !ARTIFACT_FACTS.has(name))));
  }
  return JSON.stringify(kind === "table" ? { ...sent, ...tableFacts(sent, chunks) } : sent);
}

function tableFacts(sent: ExactObject, chunks: CreateObjectRequest["chunks"]): ExactObject {
  const [first] = chunks;
  const shape = first?.shapes[first.rowShapes[0] ?? 0];
  return {
    row_count: sent["row_count"] ?? chunks.reduce((sum, { rowCount }) => sum + rowCount, 0),
    columns: sent["columns"] ?? shape?.names.map((name) => first!.names[name]!) ?? [],
  };
}

/**
 * Returns how few and how many rows tables with rows can have together, and how many they have before their last chunks: all chunks of a table but
 * the last one are full, and the last one has at least one row.
 */
export function boundRows(tables: readonly { readonly lastChunk: number }[]): {
  readonly least: number;
  readonly most: number;
  readonly beforeEnds: number;
} {
  const beforeEnds = tables.reduce((sum, { lastChunk }) => sum + lastChunk * TABLE_CHUNK_ROWS, 0);
  return { beforeEnds, least: beforeEnds + tables.length, most: beforeEnds + tables.length * TABLE_CHUNK_ROWS };
}
