export type { AnyValue } from "./span.ts";
export {
  SpansFault,
  type Attributes,
  type OtlpEvent,
  type OtlpLink,
  type OtlpSpan,
  type ResourceSpans,
} from "./span.ts";
export { readJsonSpans } from "./read-json.ts";
export { readProtobufSpans } from "./read-protobuf.ts";
export {
  writeJsonAnswer,
  writeJsonStatus,
  writeProtobufAnswer,
  writeProtobufStatus,
  type ExportAnswer,
} from "./answers.ts";
