import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readNeptuneParquet, type FileTree, type Item, type NeptuneFile } from "@tidemark/import-formats";
import type { DiskTree } from "./disk-tree.ts";

/** Reads the Parquet files of an export of Neptune Exporter below a folder. */
export async function* readNeptune({ root, tree }: DiskTree): AsyncGenerator<Item> {
  const files: NeptuneFile[] = [];
  for (const { path, size } of await parquetFiles(tree, "")) {
    const slice = (start: number, end = size): Promise<ArrayBuffer> => readSlice(join(root, path), start, end);
    files.push({ path, file: { byteLength: size, slice } });
  }
  yield* readNeptuneParquet(files);
}

async function parquetFiles(tree: FileTree, folder: string, depth = 0): Promise<{ path: string; size: number }[]> {
  const found: { path: string; size: number }[] = [];
  for (const { name, isFolder, size } of await tree.list(folder)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (isFolder && depth < 3) found.push(...(await parquetFiles(tree, path, depth + 1)));
    else if (/_part_\d+\.parquet(?:\.tmp)?$/.test(name)) found.push({ path, size });
  }
  return found;
}

async function readSlice(path: string, start: number, end: number): Promise<ArrayBuffer> {
  const file = await open(path);
  try {
    const buffer = new ArrayBuffer(Math.max(0, end - start));
    const { bytesRead } = await file.read(new Uint8Array(buffer), 0, buffer.byteLength, start);
    return buffer.slice(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Finds a file of a run: below `files/<project>` of the export, where the exporter puts it next to the data folder. */
export async function findNeptuneFile({ root, find }: DiskTree, path: string): Promise<string | undefined> {
  for (const folder of ["files"]) {
    const projects = await readdir(join(root, folder)).catch(() => []);
    for (const project of projects.toSorted((a, b) => (a < b ? -1 : 1))) {
      const found = await find(join(folder, project, path));
      if (found !== undefined) return found;
    }
  }
  return find(path);
}
