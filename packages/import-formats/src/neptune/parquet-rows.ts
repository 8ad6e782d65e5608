import {
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  snappyUncompress,
  type FileMetaData,
  type RowGroup,
  type SchemaTree,
} from "hyparquet";
import type { Warnings } from "../warnings.ts";

/** A file that is read at any place, such as an `AsyncBuffer` of hyparquet. */
export type RandomAccessFile = {
  readonly byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
};

/** Most rows of a row group, which is in memory as a whole. */
const GROUP_ROWS_MAX = 1_000_000;

/** Most bytes of a row group, and of a page of it, without compression. */
const GROUP_BYTES_MAX = 512 * 1024 * 1024;

/** Rows that are made into objects at a time. */
const ROWS_AT_A_TIME = 8192;

const compressors = {
  SNAPPY(input: Uint8Array, outputBytes: number): Uint8Array {
    if (!(outputBytes >= 0 && outputBytes <= GROUP_BYTES_MAX)) throw new RangeError("a page is too large");
    const output = new Uint8Array(outputBytes);
    snappyUncompress(input, output);
    return output;
  },
};

/** Yields the rows of a parquet file, row group by row group; one that is damaged or too large is counted and passed over. */
export async function* parquetRows(
  file: RandomAccessFile,
  warnings: Warnings,
  name: string,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(file);
  } catch {
    return warnings.add("damaged", `${name}: its footer`);
  }
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const isOdd = !Number.isSafeInteger(rows) || rows < 0 || !hasAllColumns(metadata, group);
    if (isOdd || rows > GROUP_ROWS_MAX || Number(group.total_byte_size) > GROUP_BYTES_MAX) {
      warnings.add(isOdd ? "damaged" : "too_large", `${name}: a row group`);
      if (isOdd) return;
    } else yield* groupRows({ file, metadata, rowStart, rows, warnings, name });
    rowStart += rows;
  }
}

/**
 * Returns whether a row group has exactly the columns of the schema. hyparquet begins to read all columns before it looks for them in the schema; a column
 * that is not there would fail in a promise that is never awaited, which ends the process.
 */
function hasAllColumns(metadata: FileMetaData, group: RowGroup): boolean {
  try {
    const leaves = leavesOf(parquetSchema(metadata)).map((path) => path.join("\0"));
    const columns = group.columns.map((column) => column.meta_data!.path_in_schema.join("\0"));
    return leaves.length === columns.length && leaves.every((leaf, i) => leaf === columns[i]);
  } catch {
    return false;
  }
}

function leavesOf({ children, path }: SchemaTree): string[][] {
  return children.length === 0 ? [path] : children.flatMap(leavesOf);
}

type Group = {
  readonly file: RandomAccessFile;
  readonly metadata: FileMetaData;
  readonly rowStart: number;
  readonly rows: number;
  readonly warnings: Warnings;
  readonly name: string;
};

async function* groupRows({ file, metadata, rowStart, rows, warnings, name }: Group) {
  for (let from = 0; from < rows; from += ROWS_AT_A_TIME) {
    const range = { rowStart: rowStart + from, rowEnd: rowStart + Math.min(rows, from + ROWS_AT_A_TIME) };
    let objects: Readonly<Record<string, unknown>>[];
    try {
      objects = await parquetReadObjects({ file, metadata, compressors, ...range });
    } catch {
      return warnings.add("damaged", `${name}: a row group`);
    }
    yield* objects;
  }
}
