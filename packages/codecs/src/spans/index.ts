export {
  createByteReader,
  type ByteReader,
  createByteWriter,
  type ByteWriter,
  codecError,
  isCodecError,
  type CodecError,
} from "../bytes.ts";
export { pack, unpack } from "./pack.ts";
export {
  readPayload,
  skipPayload,
  writePayload,
  type SpanPayload,
  newSpanRecord,
  NONE,
  type SpanRecord,
} from "./span-record.ts";
export { spansInCycles } from "./span-cycles.ts";
export { createTreeWriter, readTree, type TreeWriter } from "./tree-columns.ts";
