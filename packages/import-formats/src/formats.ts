import { readDvclive, showsDvclive } from "./dvclive/read-dvclive.ts";
import type { FileTree, Query, RandomFileTree, TreePath } from "./file-tree.ts";
import type { Item, RunItem, Source } from "./items.ts";
import { readMlflowDatabase } from "./mlflow/read-database.ts";
import { readMlflowFolder } from "./mlflow/read-folder.ts";
import { findNeptuneFiles, isNeptunePart, readNeptune } from "./neptune/read-neptune.ts";
import { identifyEvents, isEventFile, readTensorboard } from "./tensorboard/read-tensorboard.ts";
import { readTrackio } from "./trackio/read-trackio.ts";
import { isWandbName, readWandb } from "./wandb/read-wandb.ts";

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
