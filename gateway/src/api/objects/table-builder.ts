import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest, isAppError, type AppError } from "@tidemark/errors";
import { TABLE_CHUNK_ROWS, TABLE_COLUMNS_MAX, TABLE_ROW_BYTES_MAX } from "@tidemark/limits";
import type { TableChunkSchema } from "@tidemark/proto/ingest/v1/objects";
import { leastBytes, writeDocument } from "../fields/document.ts";
import { isObject, type Fields } from "../fields/field.ts";

type Chunk = MessageInitShape<typeof TableChunkSchema>;

/**
 * Turns rows into the chunks of a table, and pauses after each row. A cell keeps what the JSON of an attribute's value keeps; its column is found by its
 * name, so rows may have any columns in any order, and are returned with their own.
 * @throws bad_request for a row that is not an object or exceeds a limit, and for what cannot be stored
 */
export function* chunkSteps(rows: readonly unknown[]): Generator<void, Chunk[]> {
  const chunks: Chunk[] = [];
  for (let from = 0; from < rows.length; from += TABLE_CHUNK_ROWS) {
    chunks.push(yield* buildChunk(rows.slice(from, from + TABLE_CHUNK_ROWS), from));
  }
  return chunks;
}

/** The names of a row's columns, in order. */
type Shape = { readonly keys: readonly string[]; readonly columns: readonly number[]; readonly nameBytes: number };

function* buildChunk(rows: readonly unknown[], from: number): Generator<void, Chunk> {
  const columnOf = new Map<string, number>();
  const texts: string[][] = [];
  const shapes: Shape[] = [];
  const rowShapes: number[] = [];
  const addRow = (row: unknown): void => {
    if (!isObject(row)) throw badRequest("must be an object");
    // First, so that no time is spent on writing such a row.
    if (leastBytes(row, TABLE_ROW_BYTES_MAX) > TABLE_ROW_BYTES_MAX) throw rowTooLarge();
    const keys = Object.keys(row);
    const last = rowShapes.at(-1) ?? 0;
    let shape = shapes[last] !== undefined && isSame(shapes[last].keys, keys) ? last : findShape(shapes, keys);
    if (shape === -1) {
      shape = shapes.length;
      shapes.push(newShape(keys, columnOf, texts));
    }
    rowShapes.push(shape);
    addCells(row, shapes[shape]!, texts);
  };
  for (const [i, row] of rows.entries()) {
    try {
      addRow(row);
    } catch (error) {
      throw isAppError(error) ? badRequest(`rows[${from + i}]: ${error.message}`, "rows") : error;
    }
    yield;
  }
  return {
    names: [...columnOf.keys()],
    shapes: shapes.map(({ columns }) => ({ names: [...columns] })),
    rowShapes: shapes.length === 1 ? [] : rowShapes,
    rowCount: rows.length,
    columns: texts.map((cells) => Buffer.from(`${cells.join("\n")}\n`)),
  };
}

function findShape(shapes: readonly Shape[], keys: readonly string[]): number {
  return shapes.findIndex((shape) => isSame(shape.keys, keys));
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function newShape(keys: readonly string[], columnOf: Map<string, number>, texts: string[][]): Shape {
  if (keys.length > TABLE_COLUMNS_MAX) {
    throw badRequest(`must have at most ${TABLE_COLUMNS_MAX} columns`);
  }
  // Braces, and for each column its name, a colon and a comma, except the last comma.
  let nameBytes = keys.length === 0 ? 2 : 1;
  const columns = keys.map((key) => {
    if (key.includes("\0") || !key.isWellFormed()) {
      throw badRequest("has a key with NUL or a lone surrogate");
    }
    nameBytes += Buffer.byteLength(JSON.stringify(key)) + 2;
    let column = columnOf.get(key);
    if (column === undefined) {
      column = columnOf.size;
      columnOf.set(key, column);
      texts.push([]);
    }
    return column;
  });
  return { keys, columns, nameBytes };
}

function addCells(row: Fields, { keys, columns, nameBytes }: Shape, texts: string[][]): void {
  let units = nameBytes;
  for (let i = 0; i < keys.length; i++) {
    const value = row[keys[i]!];
    const cell = typeof value === "number" && Number.isFinite(value) ? `${value}` : writeCell(value);
    units += cell.length;
    texts[columns[i]!]!.push(cell);
  }
  // A UTF-16 unit takes at most three bytes, so most rows need no counting.
  if (units * 3 <= TABLE_ROW_BYTES_MAX) return;
  if (
    columns.reduce((sum, column) => sum + Buffer.byteLength(texts[column]!.at(-1)!), nameBytes) > TABLE_ROW_BYTES_MAX
  ) {
    throw rowTooLarge();
  }
}

function rowTooLarge(): AppError {
  return badRequest(`must have at most ${TABLE_ROW_BYTES_MAX} bytes`);
}

const replacing = { unstorable: "replace" } as const;

function writeCell(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string" && isPlain(value)) return `"${value}"`;
  return writeDocument(value, "it", replacing);
}

/** Short texts of printable ASCII without quotes and backslashes, which are their own JSON. */
const plain = /^[ !#-[\]-~]{0,64}$/;

function isPlain(text: string): boolean {
  return plain.test(text);
}
