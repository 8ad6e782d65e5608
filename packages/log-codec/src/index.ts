export { LOG_BLOCK_VERSION, PLAIN_BLOCK_VERSION } from "./block-layout.ts";
export { isLogCodecError } from "./codec-error.ts";
export type { LogCodecError } from "./codec-error.ts";
export { decodeLogBlock } from "./decode-log-block.ts";
export type { BlockBase } from "./decode-log-block.ts";
export { encodeLogBlock } from "./encode-log-block.ts";
export { createTextFinder } from "./find-text.ts";
export type { TextFinder } from "./find-text.ts";
export {
  comparePositions,
  countOf,
  indexAfter,
  messageAt,
  messageBytesOf,
  positionAt,
  sliceColumns,
} from "./log-columns.ts";
export type { LinePosition, LogColumns } from "./log-columns.ts";
export { columnsOfRequest } from "./log-columns-builder.ts";
export type { ArrivingLine, SentTime } from "./log-columns-builder.ts";
export { REQUEST_IDS } from "./log-requests.ts";
export { cutColumns, mergeColumns, weightOf } from "./merge-columns.ts";
