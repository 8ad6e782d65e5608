import type { FileTree, Query, TreePath } from "./file-tree.ts";
import { sqlRows, textColumn } from "./sql-rows.ts";
import { isEventFile } from "./tensorboard/read-tensorboard.ts";
import { joinPath, walkFolders } from "./walk-tree.ts";
import { isWandbName } from "./wandb/read-wandb.ts";
import { createWarnings } from "./warnings.ts";

/** The kinds of what a path may hold, in the order in which one is preferred where several are there. */
export type Format = "wandb" | "neptune" | "mlflow-folder" | "sqlite" | "tensorboard" | "dvclive";

/** The content of a path. */
export type Detected = {
  readonly format: Format;
  /** The first file or folder that shows it, relative to the root. */
  readonly shownBy: TreePath;
};

/** Files that are looked at. */
const FILES_MAX = 100_000;

const preference: readonly Format[] = ["wandb", "neptune", "mlflow-folder", "sqlite", "tensorboard", "dvclive"];

/** Returns the format of a file by its name and, for a `meta.yaml`, by the files next to it. */
function formatOf(name: string, names: ReadonlySet<string>): Format | undefined {
  if (isWandbName(name)) return "wandb";
  if (/_part_\d+\.parquet$/.test(name)) return "neptune";
  if (name === "meta.yaml") return "mlflow-folder";
  if (/\.(?:db|sqlite3?)$/.test(name)) return "sqlite";
  if (isEventFile(name)) return "tensorboard";
  const isMetric = name === "metrics.json" && names.has("plots");
  return isMetric || name === "params.yaml" ? "dvclive" : undefined;
}

/** Returns what a path holds; undefined if no reader supports it. For databases, use `detectDatabase`. */
export async function detect(tree: FileTree): Promise<Detected | undefined> {
  const found = new Map<Format, TreePath>();
  let looked = 0;
  for await (const { path, files } of walkFolders(tree, createWarnings())) {
    const names = new Set((await tree.list(path)).map(({ name }) => name));
    for (const { name } of files) {
      const format = formatOf(name, names);
      if (format !== undefined && !found.has(format)) found.set(format, joinPath(path, name));
    }
    looked += files.length;
    if (found.has(preference[0]!) || looked > FILES_MAX) break;
  }
  const format = preference.find((known) => found.has(known));
  return format === undefined ? undefined : { format, shownBy: found.get(format)! };
}

/** Returns which tracker owns a SQLite database, by its tables; undefined for unsupported trackers. */
export function detectDatabase(query: Query): "mlflow" | "trackio" | undefined {
  const rows = sqlRows(query, createWarnings(), "SELECT name FROM sqlite_master WHERE type = 'table'");
  const tables = new Set(Array.from(rows, (row) => textColumn(row, "name")));
  if (tables.has("experiments") && tables.has("runs")) return "mlflow";
  return tables.has("metrics") && tables.has("configs") ? "trackio" : undefined;
}
