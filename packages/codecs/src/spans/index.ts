export { createByteReader, type ByteReader } from "../bytes/byte-reader.ts";
export { createByteWriter, type ByteWriter } from "../bytes/byte-writer.ts";
export { codecError, isCodecError, type CodecError } from "../bytes/codec-error.ts";
export { pack, unpack } from "./pack.ts";
export { readPayload, skipPayload, writePayload, type SpanPayload } from "./payload.ts";
export { spansInCycles } from "./span-cycles.ts";
export { newSpanRecord, NONE, type SpanRecord } from "./span-record.ts";
export { createTreeWriter, readTree, type TreeWriter } from "./tree-columns.ts";
