/** Some rows of a table as columns, as the message `tidemark.ingest.v1.TableChunk` has them. */
export type TableChunk = {
  readonly names: readonly string[];
  readonly shapes: readonly { readonly names: readonly number[] }[];
  readonly rowShapes: readonly number[];
  readonly rowCount: number;
  readonly columns: readonly Uint8Array[];
};

const LF = "\n";

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
