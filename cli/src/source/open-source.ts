import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { detect, formats, readMlflowServer, type ImportFormat } from "@tidemark/import-formats";
import { failure } from "../cli-error.ts";
import type { Kind } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { databasesBeside, formatOfDatabase, readDatabases } from "./databases.ts";
import { openDiskTree, type DiskTree } from "./disk-tree.ts";
import { createFetchJson } from "./mlflow-server.ts";
import type { Source } from "./source.ts";

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
