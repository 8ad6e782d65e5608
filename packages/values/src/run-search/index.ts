export {
  columnName,
  isColumnPath,
  METRIC_FIGURES,
  numberOperand,
  readColumn,
  COLUMN_PATH_BYTES_MAX,
  type Column,
  type Comparison,
  type DocumentColumn,
  type Filter,
  type MetricColumn,
  type MetricFigure,
  type Operand,
} from "./column.ts";
export { isComplete, ID_BYTES_MIN } from "./complete.ts";
export {
  readPieces,
  tokenize,
  type FilterToken,
  type Piece,
  type SearchField,
  type TermToken,
  type Token,
} from "./tokenize.ts";
export { isStorable, lowerAscii, splitOnWhiteSpace, trimWhiteSpace } from "./words.ts";
