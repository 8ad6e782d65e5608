import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { TableChunkSchema, type CreateObjectRequestSchema, type TableChunk } from "@tidemark/proto/ingest/v1/objects";

type Request = MessageInitShape<typeof CreateObjectRequestSchema>;

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Returns a write of a table as the gateway sends it. */
export function tableOf(runId: string, more: Request = {}): Request {
  return {
    runId,
    key: "t",
    kind: "table",
    metadataJson: json({}),
    summaryJson: json({}),
    valueJson: json({}),
    chunks: [],
    ...more,
  };
}

/** Returns a chunk of this many rows with one column of numbers. */
export function chunkOf(rows: number, more: MessageInitShape<typeof TableChunkSchema> = {}): TableChunk {
  return create(TableChunkSchema, {
    names: ["a"],
    shapes: [{ names: [0] }],
    rowCount: rows,
    columns: [Buffer.from("1\n".repeat(rows))],
    ...more,
  });
}
