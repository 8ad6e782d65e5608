export { REQUEST_IDS } from "./line-times.ts";
export { createTextFinder } from "./find-text.ts";
export type { TextFinder } from "./find-text.ts";
export { decodeLogBlock, encodeLogBlock } from "./log-block.ts";
export type { BlockBase } from "./log-block.ts";
export {
  columnsOfRequest,
  comparePositions,
  countOf,
  indexAfter,
  messageAt,
  messageBytesOf,
  positionAt,
  sliceColumns,
} from "./log-columns.ts";
export type { ArrivingLine, LinePosition, LogColumns, SentTime } from "./log-columns.ts";
export { cutColumns, mergeColumns, weightOf } from "./merge-columns.ts";
