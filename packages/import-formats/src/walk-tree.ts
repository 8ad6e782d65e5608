import type { FileTree } from "./file-tree.ts";
import type { Warnings } from "./warnings.ts";

/** How deep folders are looked into. */
const FOLDER_DEPTH_MAX = 16;

/** A folder that holds files. */
export type WalkedFolder = {
  /** Relative to the root; empty: the root. */
  readonly path: string;
  /** In the order of their names' UTF-16 code units. */
  readonly files: readonly { readonly path: string; readonly name: string; readonly size: number }[];
};

/** Joins a folder and a name. */
export function joinPath(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

/** Yields the folders below `root` (and itself) that hold files, parents first, in the order of names. Folders below 16 others are counted and left out. */
export async function* walkFolders(tree: FileTree, warnings: Warnings, root = ""): AsyncGenerator<WalkedFolder> {
  const open: { path: string; depth: number }[] = [{ path: root, depth: 0 }];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const { path, depth } = folder;
    const entries = (await tree.list(path)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const files = entries.flatMap(({ name, isFolder, size }) =>
      isFolder ? [] : [{ path: joinPath(path, name), name, size }],
    );
    if (files.length > 0) yield { path, files };
    const folders = entries.filter(({ isFolder }) => isFolder);
    if (depth < FOLDER_DEPTH_MAX) {
      for (const { name } of folders.toReversed()) open.push({ path: joinPath(path, name), depth: depth + 1 });
    } else warnings.add("too_large", `${path}: folders are nested too deep`, folders.length);
  }
}
