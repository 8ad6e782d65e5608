export {
  createByteReader,
  createByteWriter,
  codecError,
  isCodecError,
  type ByteReader,
  type ByteWriter,
  type CodecError,
} from "../bytes.ts";
export { pack, unpack } from "./pack.ts";
export {
  readPayload,
  skipPayload,
  writePayload,
  newSpanRecord,
  NONE,
  type SpanPayload,
  type SpanRecord,
} from "./span-record.ts";
export { spansInCycles } from "./span-cycles.ts";
export { createTreeWriter, readTree, type TreeWriter } from "./tree-columns.ts";
