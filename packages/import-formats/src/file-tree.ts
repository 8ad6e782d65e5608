import type { Warnings } from "./warnings.ts";

/** An entry of a folder. */
export type TreeEntry = {
  /** One name, without `/`. */
  readonly name: string;
  readonly isFolder: boolean;
  /** Bytes of a file; 0 for a folder. */
  readonly size: number;
};

/** A path in the trees that are read, relative to the root, separated by `/`; the root is the empty text. */
export type TreePath = string;

/**
 * The folder that is read, which the caller opens. Errors of its functions pass through the readers.
 * A single file is read as a folder that holds it alone.
 */
export type FileTree = {
  /** Lists a folder in any order, without links that lead out of the root. A folder that is not there is empty. */
  list(folder: TreePath): Promise<readonly TreeEntry[]>;
  /** Reads a file from `from` on (default 0), in pieces of any size. */
  read(file: TreePath, from?: number): AsyncIterable<Uint8Array>;
};

/** A folder whose files can also be read from any place. */
export type RandomFileTree = FileTree & {
  /** Reads the bytes of a file from `start` to before `end`; fewer where it ends earlier. */
  slice(file: TreePath, start: number, end: number): Promise<ArrayBuffer>;
};

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

/** Returns a path that a file names, by `/` and without empty and `.` parts, or undefined if it is absolute, leads outside or names nothing. */
export function safePath(sent: string): string | undefined {
  if (/^([/\\]|[A-Za-z]:)|\0/.test(sent)) return undefined;
  const parts = sent.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  return parts.length === 0 || parts.includes("..") ? undefined : parts.join("/");
}
