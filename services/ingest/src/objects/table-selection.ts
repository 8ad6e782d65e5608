import { rowsOfChunk } from "@tidemark/archive";
import { badRequest } from "@tidemark/errors";
import { TABLE_CHUNK_ROWS, TABLE_SORTED_BYTES_MAX } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { TableChunk } from "@tidemark/proto/ingest/v1/objects";
import { createPauses } from "@tidemark/work";
import { LRUCache } from "lru-cache";
import { lowerAscii } from "@tidemark/values/run-search";
import { measureTable, readTableChunks, readTableChunksAt } from "./objects.sql.ts";
import { compareKeys, fulfills, hasText, readFilter, sortKeyOf, type SortKey } from "./table-filter.rules.ts";
import { unpackChunk } from "./table-pack.ts";

/** Which rows of a table, and in which order. */
export type Selection = {
  /** The name of a column; empty: the order in which they were logged. */
  readonly sortBy: string;
  readonly descending: boolean;
  readonly filter: string;
  readonly q: string;
};

/** Some of the selected rows. */
type SelectedRows = { readonly rowsJson: string[]; readonly rowIndexes: number[]; readonly total: number };

/** Bytes of the selections that a process remembers, so that the pages of one are not selected again. */
const REMEMBERED_BYTES = 16 * 1024 * 1024;

/** Chunks that are read together: of rows of the longest kind some ten megabytes. */
const CHUNKS_TOGETHER = 10;

/** Selects rows of tables. */
export type TableSelector = (
  of: { readonly orgId: string; readonly objectId: number },
  selection: Selection,
  page: { readonly offset: number; readonly limit: number },
) => Promise<SelectedRows>;

/** Makes a selector, which remembers selections of tables until they get more rows. Its calls throw bad_request for a filter, or too large a table. */
export function createTableSelector(db: Db): TableSelector {
  const remembered = new LRUCache<string, Uint32Array>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: (rows, name) => rows.byteLength + name.length + 100,
  });
  return async ({ orgId, objectId }, selection, { offset, limit }) => {
    const conditions = readFilter(selection.filter);
    const { bytes, chunks, lastBytes } = await db.readTenant(orgId, (tx) => measureTable(tx, orgId, objectId), {
      plans: "walks",
    });
    if (bytes > TABLE_SORTED_BYTES_MAX) {
      throw badRequest(`a table of more than ${TABLE_SORTED_BYTES_MAX} bytes cannot be sorted or filtered`);
    }
    const read = (first: number, last: number): Promise<Buffer[]> =>
      db.readTenant(orgId, (tx) => readTableChunks(tx, orgId, objectId, { first, last }), { plans: "walks" });
    // A table only grows, and with it its last chunk or their number.
    const name = JSON.stringify([orgId, objectId, chunks, lastBytes, selection]);
    let rows = remembered.get(name);
    if (rows === undefined) {
      rows = await select(read, chunks, conditions, selection);
      remembered.set(name, rows);
    }
    const rowIndexes = [...rows.subarray(offset, offset + limit)];
    return { rowsJson: await readRows(db, { orgId, objectId }, rowIndexes), rowIndexes, total: rows.length };
  };
}

type ReadChunks = (first: number, last: number) => Promise<Buffer[]>;

/** Returns the numbers of the selected rows in their order. */
async function select(
  read: ReadChunks,
  chunks: number,
  conditions: ReturnType<typeof readFilter>,
  { sortBy, descending, q }: Selection,
): Promise<Uint32Array> {
  const part = lowerAscii(q);
  const found: { readonly row: number; readonly key: SortKey }[] = [];
  const pauseIfLong = createPauses();
  for (let from = 0; from < chunks; from += CHUNKS_TOGETHER) {
    const packed = await read(from, Math.min(from + CHUNKS_TOGETHER, chunks) - 1);
    for (const [i, bytes] of packed.entries()) {
      const chunk = unpackChunk(bytes);
      const columns = new Map(
        [...conditions.map(({ column }) => column), sortBy].map((column) => [column, cellsOf(chunk, column)]),
      );
      const matches = part === "" ? undefined : rowsWith(chunk, part);
      for (let row = 0; row < chunk.rowCount; row++) {
        if (matches !== undefined && !matches.has(row)) continue;
        if (!conditions.every((condition) => fulfills(columns.get(condition.column)![row], condition))) continue;
        const key = sortKeyOf(sortBy === "" ? undefined : columns.get(sortBy)![row]);
        found.push({ row: (from + i) * TABLE_CHUNK_ROWS + row, key });
      }
      const pause = pauseIfLong();
      if (pause !== undefined) await pause;
    }
  }
  if (sortBy !== "") found.sort((a, b) => compareKeys(a.key, b.key, descending) || a.row - b.row);
  return Uint32Array.from(found, ({ row }) => row);
}

const utf8 = new TextDecoder();

/** Returns the cells of a column of a chunk as JSON, by row; undefined where a row does not have it. */
function cellsOf(chunk: TableChunk, column: string): readonly (string | undefined)[] {
  const at = chunk.names.indexOf(column);
  if (at < 0) return [];
  return spread(chunk, at, utf8.decode(chunk.columns[at]).split("\n"));
}

/** Puts the values of a column, which are those of the rows that have it, at their rows. */
function spread({ shapes, rowShapes, rowCount }: TableChunk, column: number, values: readonly string[]) {
  if (shapes.length === 1) return values;
  const having = shapes.map(({ names }) => names.includes(column));
  let next = 0;
  return Array.from({ length: rowCount }, (_, row) => (having[rowShapes[row] ?? 0]! ? values[next++] : undefined));
}

/** Returns the rows of a chunk in which some cell has a part of a text. */
function rowsWith(chunk: TableChunk, part: string): ReadonlySet<number> {
  const rows = new Set<number>();
  chunk.columns.forEach((bytes, column) => {
    const text = utf8.decode(bytes);
    // Texts with escapes may have it only when they are read.
    if (!lowerAscii(text).includes(part) && !text.includes("\\")) return;
    spread(chunk, column, text.split("\n")).forEach((cell, row) => {
      if (row < chunk.rowCount && cell !== undefined && hasText(cell, part)) rows.add(row);
    });
  });
  return rows;
}

/** Reads rows by their numbers, each chunk once. */
async function readRows(
  db: Db,
  { orgId, objectId }: { readonly orgId: string; readonly objectId: number },
  rows: readonly number[],
): Promise<string[]> {
  const chunkOf = (row: number): number => Math.floor(row / TABLE_CHUNK_ROWS);
  const numbers = [...new Set(rows.map(chunkOf))];
  const texts = new Map<number, string>();
  const pauseIfLong = createPauses();
  for (let from = 0; from < numbers.length; from += CHUNKS_TOGETHER) {
    const some = numbers.slice(from, from + CHUNKS_TOGETHER);
    const stored = await db.readTenant(orgId, (tx) => readTableChunksAt(tx, orgId, objectId, some), { plans: "walks" });
    for (const { chunk: number, rows: bytes } of stored) {
      const chunk = unpackChunk(bytes);
      const all = rowsOfChunk(chunk, 0, chunk.rowCount);
      for (const row of rows) if (chunkOf(row) === number) texts.set(row, all[row - number * TABLE_CHUNK_ROWS]!);
      const pause = pauseIfLong();
      if (pause !== undefined) await pause;
    }
  }
  // A table that is removed meanwhile has no rows.
  return rows.map((row) => texts.get(row) ?? "{}");
}
