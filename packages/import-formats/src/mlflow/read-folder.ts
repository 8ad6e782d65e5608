import { type FileTree, type TreePath, joinPath, walkFolders } from "../file-tree.ts";
import type { Item } from "../items.ts";
import { completeLines, readTextFile, readPointFloat, readPythonFloat } from "../text-files.ts";
import { createPointBatches } from "../point-batches.ts";
import { createWarnings, type Warnings } from "../warnings.ts";
import { MLFLOW_TEXTS_MAX, mlflowRunItem } from "./run-item.ts";
import { parse } from "yaml";

/** Most bytes of a parameter or a tag. */
const TEXT_BYTES_MAX = 64 * 1024;

/** Most bytes of a line of a metric. */
const LINE_BYTES_MAX = 4096;

/** The numbers of statuses in a `meta.yaml`. */
const statuses: ReadonlyMap<string, string> = new Map([
  ["1", "RUNNING"],
  ["2", "SCHEDULED"],
  ["3", "FINISHED"],
  ["4", "FAILED"],
  ["5", "KILLED"],
]);

/**
 * Reads the runs of a folder `mlruns`, or of a folder that holds it: experiment by experiment, run by run, in the order of their ids. Deleted runs, and those of
 * deleted experiments, are counted and left out.
 */
export async function* readMlflowFolder(tree: FileTree): AsyncGenerator<Item> {
  const warnings = createWarnings();
  const root = (await foldersOf(tree, "")).includes("mlruns") ? "mlruns" : "";
  for (const folder of await foldersOf(tree, root)) {
    const path = joinPath(root, folder);
    if (folder === ".trash") {
      for (const experiment of await foldersOf(tree, path)) await countRuns(tree, joinPath(path, experiment), warnings);
      continue;
    }
    const meta = await readMeta(tree, path, warnings);
    if (meta === undefined) continue;
    if (meta["lifecycle_stage"] === "deleted") await countRuns(tree, path, warnings);
    else yield* readExperiment(tree, path, meta["name"] ?? folder, warnings);
  }
  yield* warnings.take();
}

async function foldersOf(tree: FileTree, path: TreePath): Promise<string[]> {
  const entries = await tree.list(path);
  return entries.flatMap(({ name, isFolder }) => (isFolder ? [name] : [])).toSorted();
}

async function hasMeta(tree: FileTree, path: TreePath): Promise<boolean> {
  return (await tree.list(path)).some(({ name, isFolder }) => name === "meta.yaml" && !isFolder);
}

async function countRuns(tree: FileTree, path: TreePath, warnings: Warnings): Promise<void> {
  for (const run of await foldersOf(tree, path)) {
    if (await hasMeta(tree, joinPath(path, run))) warnings.add("deleted_run", run);
  }
}

/** Reads the `meta.yaml` of a folder. A folder without one is neither an experiment nor a run. */
async function readMeta(
  tree: FileTree,
  path: TreePath,
  warnings: Warnings,
): Promise<Readonly<Record<string, string>> | undefined> {
  if (!(await hasMeta(tree, path))) return undefined;
  const file = joinPath(path, "meta.yaml");
  const text = await readTextFile(tree, file, META_BYTES_MAX);
  const meta = text === undefined ? undefined : readMetaFile(text);
  if (meta === undefined) warnings.add("damaged", file);
  return meta;
}

async function* readExperiment(
  tree: FileTree,
  path: TreePath,
  experiment: string,
  warnings: Warnings,
): AsyncGenerator<Item> {
  for (const folder of await foldersOf(tree, path)) {
    const runPath = joinPath(path, folder);
    const meta = await readMeta(tree, runPath, warnings);
    if (meta?.["lifecycle_stage"] === "deleted") warnings.add("deleted_run", folder);
    else if (meta !== undefined) yield* readRun(tree, runPath, experiment, folder, meta);
  }
}

async function* readRun(
  tree: FileTree,
  path: TreePath,
  experiment: string,
  folder: string,
  meta: Readonly<Record<string, string>>,
): AsyncGenerator<Item> {
  const id = meta["run_id"] ?? meta["run_uuid"] ?? folder;
  const warnings = createWarnings(id);
  const time = (name: string): number | undefined =>
    meta[name] === undefined ? undefined : readPythonFloat(meta[name]);
  yield mlflowRunItem({
    id,
    experiment,
    name: meta["run_name"] ?? "",
    status: statuses.get(meta["status"] ?? "") ?? "RUNNING",
    startedAt: time("start_time"),
    endedAt: time("end_time"),
    user: meta["user_id"] ?? "",
    artifactUri: "",
    params: await readTexts(tree, joinPath(path, "params"), warnings),
    tags: await readTexts(tree, joinPath(path, "tags"), warnings),
  });
  const metrics = joinPath(path, "metrics");
  const points = createPointBatches(id, warnings);
  for await (const file of filesBelow(tree, metrics, warnings)) {
    const key = file.path.slice(metrics.length + 1);
    for await (const line of completeLines(tree.read(file.path), LINE_BYTES_MAX, warnings, key)) {
      const [sentTime = "", sentValue = "", sentStep = "0"] = line.trim().split(" ");
      const at = readPythonFloat(sentTime);
      const [value, step] = [sentValue, sentStep].map((text) => readPointFloat(text, key, warnings));
      if (at === undefined || value === undefined || step === undefined) warnings.add("malformed_value", key);
      else points.add(key, step, value, at);
      yield* points.full();
    }
  }
  yield* points.rest();
  const artifacts = joinPath(path, "artifacts");
  for await (const file of filesBelow(tree, artifacts, warnings)) {
    yield { kind: "file", run: id, name: file.path.slice(artifacts.length + 1), size: file.size, path: file.path };
  }
  warnings.add("unsupported", "datasets that the run used", (await foldersOf(tree, joinPath(path, "inputs"))).length);
  yield* warnings.take();
}

async function* filesBelow(
  tree: FileTree,
  path: TreePath,
  warnings: Warnings,
): AsyncGenerator<{ path: TreePath; size: number }> {
  for await (const { files } of walkFolders(tree, warnings, path)) yield* files;
}

/** Reads files that are one text each, by their paths. */
async function readTexts(tree: FileTree, path: TreePath, warnings: Warnings): Promise<Record<string, string>> {
  const texts = new Map<string, string>();
  for await (const file of filesBelow(tree, path, warnings)) {
    const key = file.path.slice(path.length + 1);
    const text = texts.size < MLFLOW_TEXTS_MAX ? await readTextFile(tree, file.path, TEXT_BYTES_MAX) : undefined;
    if (text === undefined) warnings.add("too_large", key);
    else texts.set(key, text);
  }
  return Object.fromEntries(texts);
}

/** Most bytes of a `meta.yaml`. */
const META_BYTES_MAX = 16 * 1024;

/**
 * Reads the members of a `meta.yaml` as texts, so that a name such as `1e5` stays one; a member without a value is absent. Undefined if it is not YAML or
 * not a map.
 */
function readMetaFile(text: string): Readonly<Record<string, string>> | undefined {
  let content: unknown;
  try {
    content = parse(text, { schema: "failsafe", maxAliasCount: 0, logLevel: "error" });
  } catch {
    return undefined;
  }
  if (typeof content !== "object" || content === null || Array.isArray(content)) return undefined;
  const members = Object.entries(content).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1] !== "null" && entry[1] !== "",
  );
  return Object.fromEntries(members);
}
