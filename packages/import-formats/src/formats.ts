import { readDvclive, showsDvclive } from "./dvclive/read-dvclive.ts";
import { joinPath, walkFolders, type FileTree, type RandomFileTree, type TreePath } from "./file-tree.ts";
import type { Item, RunItem, Source } from "./items.ts";
import { readMlflowDatabase } from "./mlflow/read-database.ts";
import { readMlflowFolder } from "./mlflow/read-folder.ts";
import { findNeptuneFiles, isNeptunePart, readNeptune } from "./neptune/read-neptune.ts";
import { identifyEvents, isEventFile, readTensorboard } from "./tensorboard/read-tensorboard.ts";
import { readTrackio } from "./trackio/read-trackio.ts";
import { isWandbName, readWandb } from "./wandb/read-wandb.ts";
import { sqlRows, textColumn, type Query } from "./sql-rows.ts";
import { createWarnings } from "./warnings.ts";

/** The files or the database of a tracker: how they are recognized and read. */
export type ImportFormat = {
  /** The tracker, as the runs say it and users choose it. */
  readonly kind: Source;
  /** The tracker as people call it. */
  readonly title: string;
  readonly folder?: {
    /** Returns whether a file shows this format: by its name, and by the names in its folder. */
    readonly isShownBy: (name: string, names: ReadonlySet<string>) => boolean;
    readonly read: (tree: RandomFileTree) => AsyncIterable<Item>;
  };
  readonly database?: {
    /** Tables that no other tracker's database has together. */
    readonly tables: readonly string[];
    /** Reads a database; `name` is that of its file, without the ending. */
    readonly read: (query: Query, name: string) => Iterable<Item> | AsyncIterable<Item>;
    /** Whether each project has a database, with files of its runs next to it. */
    readonly isOfProject: boolean;
  };
  /** Returns a text that stays the same when the source is moved; `path` is where the run is. Left out: the run's own id. */
  readonly identify?: (run: RunItem, tree: FileTree, path: string) => Promise<string>;
  /** Returns where a file may be that a run names, the likeliest place first. Left out: where the run says. */
  readonly placesOf?: (file: TreePath, tree: FileTree) => Promise<readonly TreePath[]>;
};

/** The formats in the order in which one is preferred where a folder shows several. A database counts where the first format with nothing else stands. */
export const formats: readonly ImportFormat[] = [
  { kind: "wandb", title: "W&B", folder: { isShownBy: isWandbName, read: readWandb } },
  {
    kind: "neptune",
    title: "Neptune",
    folder: { isShownBy: isNeptunePart, read: readNeptune },
    placesOf: findNeptuneFiles,
  },
  {
    kind: "mlflow",
    title: "MLflow",
    folder: { isShownBy: (name) => name === "meta.yaml", read: readMlflowFolder },
    database: { tables: ["experiments", "runs"], read: readMlflowDatabase, isOfProject: false },
  },
  {
    kind: "trackio",
    title: "trackio",
    database: { tables: ["metrics", "configs"], read: readTrackio, isOfProject: true },
  },
  {
    kind: "tensorboard",
    title: "TensorBoard",
    folder: { isShownBy: isEventFile, read: readTensorboard },
    identify: identifyEvents,
  },
  {
    kind: "dvclive",
    title: "DVCLive",
    folder: { isShownBy: showsDvclive, read: readDvclive },
    // Nothing in a DVCLive folder distinguishes it from another one.
    identify: (_run, _tree, path) => Promise.resolve(path),
  },
];

/** The content of a path: files of a format, or a database, whose format `detectDatabase` returns. */
export type Detected = {
  readonly format: ImportFormat | "sqlite";
  /** The first file or folder that shows it, relative to the root. */
  readonly shownBy: TreePath;
};

/** Files that are looked at. */
const FILES_MAX = 100_000;

const isDatabaseName = (name: string): boolean => /\.(?:db|sqlite3?)$/.test(name);

/** In the order of preference. */
const shown: readonly Detected["format"][] = [
  ...new Set(formats.map((format) => (format.folder === undefined ? "sqlite" : format))),
];

const isShownBy = (format: Detected["format"], name: string, names: ReadonlySet<string>): boolean =>
  format === "sqlite" ? isDatabaseName(name) : format.folder?.isShownBy(name, names) === true;

/** Returns what a path holds; undefined if no reader supports it. */
export async function detect(tree: FileTree): Promise<Detected | undefined> {
  const found = new Map<Detected["format"], TreePath>();
  let looked = 0;
  for await (const { path, files } of walkFolders(tree, createWarnings())) {
    const names = new Set((await tree.list(path)).map(({ name }) => name));
    for (const { name } of files) {
      const format = shown.find((known) => isShownBy(known, name, names));
      if (format !== undefined && !found.has(format)) found.set(format, joinPath(path, name));
    }
    looked += files.length;
    if (found.has(shown[0]!) || looked > FILES_MAX) break;
  }
  const format = shown.find((known) => found.has(known));
  return format === undefined ? undefined : { format, shownBy: found.get(format)! };
}

/** Returns whose format a SQLite database has, by its tables; undefined for unsupported trackers. */
export function detectDatabase(query: Query): ImportFormat | undefined {
  const rows = sqlRows(query, createWarnings(), "SELECT name FROM sqlite_master WHERE type = 'table'");
  const tables = new Set(Array.from(rows, (row) => textColumn(row, "name")));
  return formats.find(({ database }) => database?.tables.every((table) => tables.has(table)) === true);
}
