import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  detect,
  readDvclive,
  readMlflowFolder,
  readMlflowServer,
  readTensorboard,
  readWandb,
  type RunItem,
} from "@tidemark/import-formats";
import { failure } from "../cli-error.ts";
import type { Kind } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { databasesBeside, ownerOf, readDatabases } from "./databases.ts";
import { openDiskTree, type DiskTree } from "./disk-tree.ts";
import { createFetchJson } from "./mlflow-server.ts";
import { findNeptuneFile, readNeptune } from "./neptune-files.ts";
import type { Source } from "./source.ts";

/** A folder that `tidemark export` wrote. */
export type ExportFolder = { readonly kind: "tidemark"; readonly root: string; readonly archive: string };

const byItsOwnId = (run: RunItem): Promise<string> => Promise.resolve(run.run);

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
      identify: byItsOwnId,
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
  const modifiedAt = Math.floor((await stat(shownBy)).mtimeMs);
  const base = { project: basename(disk.root), modifiedAt, find: (path: string) => disk.find(path) };
  const isDatabase =
    detected.format === "sqlite" && (wanted === undefined || wanted === "mlflow" || wanted === "trackio");
  const owner = isDatabase ? ownerOf(shownBy) : undefined;
  if (owner !== undefined && (wanted === undefined || wanted === owner)) {
    const paths = await databasesBeside(shownBy, owner, (await stat(from)).isFile());
    return {
      ...base,
      kind: owner,
      items: () => readDatabases(disk.root, paths, owner),
      identify: byItsOwnId,
    };
  }
  switch (wanted ?? detected.format) {
    case "wandb":
      return { ...base, kind: "wandb", items: () => readWandb(disk.tree), identify: byItsOwnId };
    case "tensorboard":
      return {
        ...base,
        kind: "tensorboard",
        items: () => readTensorboard(disk.tree),
        identify: (run) => identifyEvents(disk, run),
      };
    case "dvclive":
      // Nothing in a DVCLive folder distinguishes it from another one.
      return {
        ...base,
        kind: "dvclive",
        items: () => readDvclive(disk.tree),
        identify: (run) => Promise.resolve(join(disk.root, run.run)),
      };
    case "neptune":
      return {
        ...base,
        kind: "neptune",
        items: () => readNeptune(disk),
        identify: byItsOwnId,
        find: (path) => findNeptuneFile(disk, path),
      };
    case "mlflow":
    case "mlflow-folder":
      return { ...base, kind: "mlflow", items: () => readMlflowFolder(disk.tree), identify: byItsOwnId };
    default:
      throw unknown();
  }
}

/** The name of the first event file has the time, the machine and the process of its writer, so a folder may move and two that are called alike differ. */
async function identifyEvents({ root, tree }: DiskTree, { run }: RunItem): Promise<string> {
  const files = await tree.list(run === "." ? "" : run);
  const first = files
    .filter(({ name, isFolder }) => !isFolder && name.includes("tfevents"))
    .map(({ name }) => name)
    .toSorted()[0];
  return `${basename(join(root, run))}/${first ?? ""}`;
}
