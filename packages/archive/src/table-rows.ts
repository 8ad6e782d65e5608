import { membersOf, parse } from "./json-parts.ts";

/** Some rows of a table as columns, as the message `tidemark.ingest.v1.TableChunk` has them. */
export type TableChunk = {
  readonly names: readonly string[];
  readonly shapes: readonly { readonly names: readonly number[] }[];
  readonly rowShapes: readonly number[];
  readonly rowCount: number;
  readonly columns: readonly Uint8Array[];
};

const LF = "\n";
/** White space between the parts of a JSON text. */
const LINE_BREAKS = /[\n\r]/g;

/** Returns the JSON texts of some rows of a chunk, each with the columns that were sent, in their order. */
export function rowsOfChunk(chunk: TableChunk, from: number, to: number): string[] {
  const { names, shapes, rowShapes, rowCount, columns } = chunk;
  const end = Math.min(to, rowCount);
  if (from >= end) return [];
  const cells = columns.map((column) =>
    Buffer.from(column.buffer, column.byteOffset, column.length).toString().split(LF),
  );
  const quoted = names.map((name) => `${JSON.stringify(name)}:`);
  const next = new Uint32Array(names.length);
  const rows: string[] = [];
  for (let row = 0; row < end; row++) {
    const shape = shapes[rowShapes[row] ?? 0]!;
    if (row < from) {
      for (const column of shape.names) next[column]! += 1;
      continue;
    }
    let text = "{";
    for (const column of shape.names) {
      if (text.length > 1) text += ",";
      text += quoted[column]! + cells[column]![next[column]!++]!;
    }
    rows.push(`${text}}`);
  }
  return rows;
}

/** Returns rows, each the JSON text of an object, as a chunk; {@link rowsOfChunk} returns them. @throws ArchiveError */
export function chunkOfRows(rows: readonly string[]): TableChunk {
  const names: string[] = [];
  const cells: string[][] = [];
  const columnOf = new Map<string, number>();
  const shapes: { readonly names: readonly number[] }[] = [];
  const shapeOf = new Map<string, number>();
  const rowShapes = rows.map((row) => {
    const columns = [...membersOf(row)].map(([name, cell]) => {
      let column = columnOf.get(name);
      if (column === undefined) {
        column = names.push(name) - 1;
        columnOf.set(name, column);
        cells.push([]);
      }
      parse(cell);
      cells[column]!.push(cell.replace(LINE_BREAKS, " "));
      return column;
    });
    const known = shapeOf.get(columns.join(","));
    if (known !== undefined) return known;
    shapeOf.set(columns.join(","), shapes.length);
    return shapes.push({ names: columns }) - 1;
  });
  return {
    names,
    shapes,
    rowShapes: shapes.length === 1 ? [] : rowShapes,
    rowCount: rows.length,
    columns: cells.map((column) => Buffer.from(`${column.join(LF)}${LF}`)),
  };
}
