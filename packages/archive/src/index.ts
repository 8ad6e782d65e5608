export {
  faultOfArtifact,
  faultOfCollection,
  faultOfEdge,
  faultOfEntry,
  faultOfVersion,
  type EdgeOfLine,
  type EntryOfLine,
} from "./artifact-faults.ts";
export { isArchiveError, type ArchiveError } from "./json-parts.ts";
export { bytesOfColumn, doublesOfBytes, indexesOfBytes } from "./columns.ts";
export {
  ARCHIVE_PRODUCT,
  ARCHIVE_VERSION,
  LINE_BYTES_MAX,
  decodeLine,
  encodeLine,
  encodePoints,
  writeColumn,
  writeValueColumn,
  readLines,
  type ArchiveLine,
  type LineKind,
  type LineOf,
  type UnknownLine,
  type WrittenColumns,
  type NumberedLine,
} from "./line.ts";
export { COUNTED_TYPES, LINE_LENGTHS_MAX, noCounts, type CountedType } from "./line-shapes.ts";
export { stableId } from "./stable-id.ts";
export { chunkOfRows, rowsOfChunk, type TableChunk } from "./table-rows.ts";
