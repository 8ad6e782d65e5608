export { detect, detectDatabase, type Detected, type Format } from "./detect.ts";
export { readNeptuneParquet, type NeptuneFile } from "./neptune/read-neptune.ts";
export type { RandomAccessFile } from "./neptune/parquet-rows.ts";
export type { FileTree, Query, SqlRow, TreeEntry, TreePath } from "./file-tree.ts";
export { readPythonJson } from "./json.ts";
export { sqliteQuery, type SqliteDatabase } from "./sqlite-query.ts";
export { readDvclive } from "./dvclive/read-dvclive.ts";
export { readTrackio } from "./trackio/read-trackio.ts";
export { readMlflowDatabase } from "./mlflow/read-database.ts";
export { readMlflowFolder } from "./mlflow/read-folder.ts";
export { readMlflowServer, type FetchJson } from "./mlflow/read-server.ts";
export { readWandb } from "./wandb/read-wandb.ts";
export { readTensorboard } from "./tensorboard/read-tensorboard.ts";
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
