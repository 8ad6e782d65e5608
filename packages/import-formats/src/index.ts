export { detect, detectDatabase, formats, type ImportFormat } from "./formats.ts";
export type { FileTree, RandomFileTree, TreeEntry, TreePath } from "./file-tree.ts";
export { readPythonJson } from "./json.ts";
export { sqliteQuery, type Query, type SqliteDatabase, type SqlRow } from "./sql-rows.ts";
export { readMlflowServer, type FetchJson } from "./mlflow/read-server.ts";
export {
  LINES_MAX,
  POINTS_MAX,
  type AttributeItem,
  type ConsoleLine,
  type FileItem,
  type HistogramValue,
  type Item,
  type JsonObject,
  type JsonValue,
  type LinesItem,
  type MediaFile,
  type ObjectItem,
  type PointsItem,
  type RunItem,
  type RunStatus,
  type Source,
  type WarningCode,
  type WarningItem,
} from "./items.ts";
