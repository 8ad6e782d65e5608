import { constants, zstdCompressSync } from "node:zlib";
import type { ExportArchiveRequest } from "@tidemark/proto/imports/v1/archive";
import type { Call } from "@tidemark/rpc";
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import { type ArchiveClients, groupsOf, readSelectedRuns, type SelectedRuns } from "./selected-runs.ts";
import { columnsOf, joinRows, pointRows, type PointRows } from "./points.rules.ts";

/** Rows of a group: enough for readers, and few enough that other requests wait only a few milliseconds. */
const GROUP_ROWS = 16_384;
/** Bytes that are sent together. */
const PIECE_BYTES = 256 * 1024;

/**
 * Writes all points of a project or of some runs as a Parquet file, in memory that does not grow with their number except for the footer: about a kilobyte
 * for each 16,384 points.
 * @throws bad_request, not_found before the first byte
 */
export async function* parquetOfPoints(
  clients: Pick<ArchiveClients, "runs" | "ingest">,
  request: Pick<ExportArchiveRequest, "runIds" | "project">,
  call: Call,
): AsyncGenerator<Uint8Array, void, undefined> {
  const selected: SelectedRuns = { projects: [], runIds: [] };
  const names = new Map<string, string>();
  for await (const row of readSelectedRuns(clients, request, call, selected)) {
    if ("run" in row && row.run !== undefined) names.set(row.run.id, row.run.name);
  }
  const file = createParquetFile();
  let waiting: PointRows[] = [];
  let count = 0;
  for (const runIds of groupsOf(selected.runIds)) {
    for await (const message of clients.ingest.exportPoints({ runIds }, call)) {
      for (const rows of pointRows(columnsOf(message), names.get(message.runId) ?? "", GROUP_ROWS)) {
        waiting.push(rows);
        count += rows.values.length;
        if (count < GROUP_ROWS) continue;
        yield* piecesOf(file.write(joinRows(waiting)));
        waiting = [];
        count = 0;
      }
    }
  }
  if (waiting.length > 0) yield* piecesOf(file.write(joinRows(waiting)));
  yield* piecesOf(file.end());
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) yield bytes.subarray(from, from + PIECE_BYTES);
}

const text = (name: string): SchemaElement => ({
  name,
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
  logical_type: { type: "STRING" },
  repetition_type: "REQUIRED",
});
const double = (name: string): SchemaElement => ({ name, type: "DOUBLE", repetition_type: "REQUIRED" });
const microseconds = (name: string, repetition: "REQUIRED" | "OPTIONAL"): SchemaElement => ({
  name,
  type: "INT64",
  converted_type: "TIMESTAMP_MICROS",
  logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  repetition_type: repetition,
});

const columns = [
  text("run_id"),
  text("run_name"),
  text("key"),
  double("step"),
  double("value"),
  microseconds("timestamp", "OPTIONAL"),
  microseconds("created_at", "REQUIRED"),
];
const schema: SchemaElement[] = [{ name: "points", num_children: columns.length }, ...columns];

// The first level costs a third of the default's time.
const compress = (bytes: Uint8Array): Uint8Array =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });

/** A Parquet file that is written part by part. The bytes of each part follow those of the previous part. */
type ParquetFile = {
  /** Writes rows as a separate group, and returns the bytes. */
  readonly write: (rows: PointRows) => Uint8Array;
  /** Ends the file; no reader accepts an unfinished file. */
  readonly end: () => Uint8Array;
};

/** Begins a file of points. Format: https://parquet.apache.org/docs/file-format/. Compressed with Zstandard. */
function createParquetFile(): ParquetFile {
  const writer = new ByteWriter();
  const file = new ParquetWriter({
    writer,
    schema,
    codec: "ZSTD",
    compressors: { ZSTD: compress },
    createdBy: "tidemark",
  });
  const take = (): Uint8Array => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  return {
    write: (rows) => {
      void file.write({
        columnData: [
          { name: "run_id", data: rows.runIds },
          { name: "run_name", data: rows.runNames },
          { name: "key", data: rows.keys },
          // A dictionary would treat -0 as 0.
          { name: "step", data: rows.steps, encoding: "PLAIN" },
          { name: "value", data: rows.values, encoding: "PLAIN" },
          { name: "timestamp", data: rows.timestampsUs },
          { name: "created_at", data: rows.createdUs },
        ],
        rowGroupSize: Math.max(rows.values.length, 1),
      });
      return take();
    },
    end: () => {
      void file.finish();
      return take();
    },
  };
}
