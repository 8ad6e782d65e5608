import type { TableChunk } from "@tidemark/proto/ingest/v1/objects";

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
