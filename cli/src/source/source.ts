import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  detect,
  detectDatabase,
  formats,
  readMlflowServer,
  sqliteQuery,
  type ImportFormat,
  type Item,
  type RunItem,
} from "@tidemark/import-formats";
import type { Kind } from "../options.ts";
import { failure } from "../cli-error.ts";
import type { Surroundings } from "../surroundings.ts";
import { openDiskTree, type DiskTree } from "./disk-tree.ts";
import { createFetchJson } from "./mlflow-server.ts";

/** A source of runs. */
export type Source = {
  readonly kind: Exclude<Kind, "tidemark">;
  /** The name of the project of runs that name none. */
  readonly project: string;
  /** Milliseconds since 1970: the time of items without a time of their own. Unchanged as long as nothing was written. */
  readonly modifiedAt: number;
  /** Reads it from its beginning. */
  readonly items: () => AsyncIterable<Item>;
  /** Returns what identifies a run, even after the source was moved. */
  readonly identify: (run: RunItem) => Promise<string>;
  /** The path of a file that an item of a run names; undefined where it is not. */
  readonly find: (path: string, run: RunItem) => Promise<string | undefined>;
};

/** A folder that `tidemark export` wrote. */
export type ExportFolder = { readonly kind: "tidemark"; readonly root: string; readonly archive: string };

/** Finds out what a path or an address holds, and opens it. @throws CliError where it is nothing that is read here */
export async function openSource(
  from: string,
  kind: Kind | undefined,
  surroundings: Pick<Surroundings, "env" | "signal">,
): Promise<Source | ExportFolder> {
  if (/^https?:\/\//.test(from)) {
    if (kind !== undefined && kind !== "mlflow") throw failure("an address is read as that of an MLflow server");
    return {
      kind: "mlflow",
      project: "mlflow",
      modifiedAt: 0,
      items: () => readMlflowServer(createFetchJson(from, surroundings)),
      identify: ({ run }) => Promise.resolve(run),
      find: () => Promise.resolve(undefined),
    };
  }
  const disk = await openDiskTree(from);
  const names = (await disk.tree.list("")).map(({ name }) => name);
  const isFile = (await stat(from)).isFile();
  const archive = names.find((name) => (isFile ? name.endsWith(".ndjson") : name === "archive.ndjson"));
  if (kind === "tidemark" || (kind === undefined && archive !== undefined)) {
    if (archive === undefined) throw failure(`${from} has no archive.ndjson`);
    return { kind: "tidemark", root: disk.root, archive: join(disk.root, archive) };
  }
  return openFiles(from, disk, kind);
}

async function openFiles(from: string, disk: DiskTree, wanted: Exclude<Kind, "tidemark"> | undefined): Promise<Source> {
  const detected = await detect(disk.tree);
  const unknown = () => failure(`${from} holds nothing that can be imported; tidemark import --help says what can`);
  if (detected === undefined) throw unknown();
  const shownBy = join(disk.root, detected.shownBy);
  const sourceOf = async (format: ImportFormat, items: Source["items"]): Promise<Source> => ({
    kind: format.kind,
    project: basename(disk.root),
    modifiedAt: Math.floor((await stat(shownBy)).mtimeMs),
    items,
    identify: async (run) => (await format.identify?.(run, disk.tree, join(disk.root, run.run))) ?? run.run,
    find: (path) => findFile(disk, format, path),
  });
  const mayBeDatabase = wanted === undefined || formats.some(({ kind, database }) => kind === wanted && database);
  const owner = detected.format === "sqlite" && mayBeDatabase ? formatOfDatabase(shownBy) : undefined;
  if (owner !== undefined && (wanted === undefined || wanted === owner.kind)) {
    const paths = await databasesBeside(shownBy, owner, (await stat(from)).isFile());
    return sourceOf(owner, () => readDatabases(disk.root, paths, owner));
  }
  const format = wanted === undefined ? detected.format : formats.find(({ kind }) => kind === wanted);
  if (format === undefined || format === "sqlite" || format.folder === undefined) throw unknown();
  const { read } = format.folder;
  return sourceOf(format, () => read(disk.tree));
}

async function findFile(
  { tree, find }: DiskTree,
  { placesOf }: ImportFormat,
  path: string,
): Promise<string | undefined> {
  for (const place of (await placesOf?.(path, tree)) ?? [path]) {
    const found = await find(place);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A format with databases. */
type DatabaseFormat = ImportFormat & Required<Pick<ImportFormat, "database">>;

/** Returns the format of a database; undefined for an unsupported tracker, or if it is not a database. */
function formatOfDatabase(path: string): DatabaseFormat | undefined {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const format = detectDatabase(sqliteQuery(database));
    return format?.database === undefined ? undefined : { ...format, database: format.database };
  } finally {
    database.close();
  }
}

/** Returns a database, and those of other projects next to it. */
async function databasesBeside(path: string, { kind, database }: DatabaseFormat, alone: boolean): Promise<string[]> {
  if (alone || !database.isOfProject) return [path];
  const names = (await readdir(dirname(path))).filter((name) => name.endsWith(".db")).toSorted();
  return names.map((name) => join(dirname(path), name)).filter((beside) => formatOfDatabase(beside)?.kind === kind);
}

/** Reads the runs of databases, one after another. */
async function* readDatabases(
  root: string,
  paths: readonly string[],
  { database: { read, isOfProject } }: DatabaseFormat,
): AsyncGenerator<Item> {
  for (const path of paths) {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const items = read(sqliteQuery(database), basename(path, ".db"));
      if (isOfProject) yield* inFolder(items, relative(root, dirname(path)));
      else yield* items;
    } finally {
      database.close();
    }
  }
}

/** Names files by their place next to the database. */
async function* inFolder(items: Iterable<Item> | AsyncIterable<Item>, folder: string): AsyncGenerator<Item> {
  for await (const item of items) {
    if (folder !== "" && item.kind === "object" && "file" in item && "path" in item.file) {
      yield { ...item, file: { ...item.file, path: join(folder, item.file.path) } };
    } else yield item;
  }
}
