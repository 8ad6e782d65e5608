import { type FileTree, type RandomFileTree, type TreePath, joinPath } from "../file-tree.ts";
import type { Item } from "../items.ts";
import { createWarnings, type Warnings } from "../warnings.ts";
import { readAttributeRow } from "./attribute-row.ts";
import { parquetRows, type RandomAccessFile } from "./parquet-rows.ts";
import { createNeptuneRunReader, type NeptuneRunReader } from "./run-reader.ts";

/** A file of an export. */
export type NeptuneFile = { readonly path: string; readonly file: RandomAccessFile };

type OpenRun = { readonly run: string; readonly reader: NeptuneRunReader; readonly warnings: Warnings };

const partName = /^(.*)_part_(\d{1,9})\.parquet$/;

/** Folders below that of the export whose files are read. */
const DEPTH_MAX = 3;

/** Returns whether a file is a part of a run. */
export function isNeptunePart(name: string): boolean {
  return /_part_\d+\.parquet$/.test(name);
}

/** Reads the runs of an export below a folder, as `readNeptuneParquet` does. */
export async function* readNeptune(tree: RandomFileTree): AsyncGenerator<Item> {
  const files: NeptuneFile[] = [];
  for (const { path, size } of await parquetFiles(tree, "")) {
    const slice = (start: number, end = size): Promise<ArrayBuffer> => tree.slice(path, start, end);
    files.push({ path, file: { byteLength: size, slice } });
  }
  yield* readNeptuneParquet(files);
}

async function parquetFiles(
  tree: FileTree,
  folder: TreePath,
  depth = 0,
): Promise<{ readonly path: TreePath; readonly size: number }[]> {
  const found: { path: TreePath; size: number }[] = [];
  for (const { name, isFolder, size } of await tree.list(folder)) {
    const path = joinPath(folder, name);
    if (isFolder && depth < DEPTH_MAX) found.push(...(await parquetFiles(tree, path, depth + 1)));
    else if (isNeptunePart(name.replace(/\.tmp$/, ""))) found.push({ path, size });
  }
  return found;
}

/** Returns where a file of a run may be: below `files/<project>` of the export, where the exporter puts it next to the data folder. */
export async function findNeptuneFiles(file: TreePath, tree: FileTree): Promise<readonly TreePath[]> {
  const projects = (await tree.list("files")).map(({ name }) => name).toSorted((a, b) => (a < b ? -1 : 1));
  return [...projects.map((project) => `files/${project}/${file}`), file];
}

/**
 * Reads the runs of an export of neptune-exporter: its files `<project>/<run>_part_<n>.parquet`, run by run and part by part. Ids are taken from the columns.
 * Paths of files are relative to `files/<project>` of the export. A forked run may follow its fork.
 */
export async function* readNeptuneParquet(files: readonly NeptuneFile[]): AsyncGenerator<Item> {
  const warnings = createWarnings();
  const runs = new Map<string, NeptuneFile[]>();
  for (const file of files.toSorted((a, b) => numberOf(a) - numberOf(b))) {
    const name = partName.exec(file.path)?.[1];
    // An export that was interrupted leaves files under temporary names.
    if (file.path.endsWith(".parquet.tmp")) warnings.add("torn_tail", file.path);
    else if (name === undefined) warnings.add("unsupported", file.path);
    else runs.set(name, [...(runs.get(name) ?? []), file]);
  }
  for (const [, parts] of [...runs].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    // The first part gets its name last.
    if (numberOf(parts[0]!) !== 0) warnings.add("torn_tail", parts[0]!.path);
    yield* readParts(parts, warnings);
  }
  yield* warnings.take();
}

function numberOf({ path }: NeptuneFile): number {
  return Number(partName.exec(path)?.[2] ?? 0);
}

/** Reads the parts of one run. */
async function* readParts(parts: readonly NeptuneFile[], warnings: Warnings): AsyncGenerator<Item> {
  let open: OpenRun | undefined;
  for (const { path, file } of parts) {
    for await (const columns of parquetRows(file, warnings, path)) {
      const row = readAttributeRow(columns);
      if (row === undefined) {
        warnings.add("malformed_value", `${path}: a row without its names`);
        continue;
      }
      if (open === undefined) {
        const own = createWarnings(row.run);
        open = { run: row.run, reader: createNeptuneRunReader(row.run, own), warnings: own };
        yield open.reader.begin(row.project);
      }
      if (open.run === row.run) yield* open.reader.read(row);
      else warnings.add("malformed_value", `${path}: a row of another run`);
    }
  }
  if (open === undefined) return;
  yield* open.reader.end();
  yield* open.warnings.take();
}
