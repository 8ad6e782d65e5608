export { detect, detectDatabase } from "./detect.ts";
export { formats, type ImportFormat } from "./formats.ts";
export type { FileTree, Query, RandomFileTree, SqlRow, TreeEntry, TreePath } from "./file-tree.ts";
export { readPythonJson } from "./json.ts";
export { sqliteQuery, type SqliteDatabase } from "./sqlite-query.ts";
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
