import { type FileTree, type TreePath, joinPath, walkFolders } from "../file-tree.ts";
import type { Item } from "../items.ts";
import { createWarnings, type Warnings } from "../warnings.ts";
import { logRecords } from "./log-records.ts";
import { readRecord } from "./records.ts";
import { createWandbRunReader, type WandbRunReader } from "./run-reader.ts";

/** Returns whether a file is the log of a run. */
export function isWandbName(name: string): boolean {
  return name.endsWith(".wandb");
}

/** Files that say again what the log says. */
const repeated = new Set(["output.log", "wandb-summary.json", "wandb-metadata.json", "config.yaml"]);

/**
 * Reads the runs that W&B wrote below a folder (`wandb/offline-run-…/run-<id>.wandb`), in the order of their folders, with the media and other files next to
 * them. A resumed run has several logs, and its items are repeated.
 */
export async function* readWandb(tree: FileTree): AsyncGenerator<Item> {
  const warnings = createWarnings();
  for await (const { path: folder, files } of walkFolders(tree, warnings)) {
    for (const { path, name } of files) if (isWandbName(name)) yield* readLog(tree, folder, path, name);
  }
  yield* warnings.take();
}

async function* readLog(tree: FileTree, folder: TreePath, path: TreePath, name: string): AsyncGenerator<Item> {
  // The first record of a run names it; where that one is damaged, the name of the file does.
  let run = name.replace(/^run-/, "").replace(/\.wandb$/, "");
  const warnings = createWarnings(run);
  const filesFolder = joinPath(folder, "files");
  let reader: WandbRunReader | undefined;
  for await (const bytes of logRecords(tree.read(path), warnings, name)) {
    const record = readRecord(bytes, warnings);
    if (record.type === "other") continue;
    if (reader === undefined && record.type === "run" && record.run.id !== "") run = record.run.id;
    reader ??= createWandbRunReader({ run, tree, filesFolder, warnings });
    yield* reader.read(record);
  }
  if (reader !== undefined) {
    yield* readFiles(tree, run, filesFolder, warnings);
    yield* reader.end();
  }
  yield* warnings.take();
}

/** Yields the files next to a log; media are named by the history. */
async function* readFiles(tree: FileTree, run: string, root: TreePath, warnings: Warnings): AsyncGenerator<Item> {
  const media = joinPath(root, "media");
  for await (const { path: folder, files } of walkFolders(tree, warnings, root)) {
    if (folder === media || folder.startsWith(`${media}/`)) continue;
    for (const { path, size } of files) {
      const name = path.slice(root.length + 1);
      if (!repeated.has(name)) yield { kind: "file", run, name, size, path };
    }
  }
}
