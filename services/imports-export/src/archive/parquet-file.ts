import { constants, zstdCompressSync } from "node:zlib";
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { PointRows } from "./point-rows.rules.ts";

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
export type ParquetFile = {
  /** Writes rows as a separate group, and returns the bytes. */
  readonly write: (rows: PointRows) => Uint8Array;
  /** Ends the file; no reader accepts an unfinished file. */
  readonly end: () => Uint8Array;
};

/** Begins a file of points. Format: https://parquet.apache.org/docs/file-format/. Compressed with Zstandard. */
export function createParquetFile(): ParquetFile {
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
