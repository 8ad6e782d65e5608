import { createReadStream } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import type { RandomFileTree, TreeEntry } from "@tidemark/import-formats";
import { failure } from "../cli-error.ts";

/** A folder on the disk, or a file as a folder that holds it alone. */
export type DiskTree = {
  /** The folder, without links. */
  readonly root: string;
  readonly tree: RandomFileTree;
  /** Returns the path of a file of the tree; undefined where there is none, or where it leads out of the root. */
  readonly find: (path: string) => Promise<string | undefined>;
};

/** Opens a path. Links to folders are not followed, because W&B has one to its latest run. @throws CliError where nothing is */
export async function openDiskTree(path: string): Promise<DiskTree> {
  const real = await realpath(path).catch((error: unknown) => {
    throw failure(`${path} cannot be read`, error);
  });
  const isFolder = (await stat(real)).isDirectory();
  const root = isFolder ? real : dirname(real);
  const only = isFolder ? undefined : basename(real);
  const find = async (inner: string): Promise<string | undefined> => {
    const target = await realpath(join(root, inner)).catch(() => undefined);
    const isInside = target?.startsWith(root.endsWith(sep) ? root : root + sep) === true;
    return isInside && (await stat(target)).isFile() ? target : undefined;
  };
  return {
    root,
    find,
    tree: {
      async list(folder) {
        if (only !== undefined && folder !== "") return [];
        const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(noFolder);
        const kept = only === undefined ? entries : entries.filter(({ name }) => name === only);
        const listed = kept.map(async (entry): Promise<TreeEntry | undefined> => {
          if (entry.isDirectory()) return { name: entry.name, isFolder: true, size: 0 };
          const file = await find(folder === "" ? entry.name : `${folder}/${entry.name}`);
          return file === undefined ? undefined : { name: entry.name, isFolder: false, size: (await stat(file)).size };
        });
        return (await Promise.all(listed)).filter((entry) => entry !== undefined);
      },
      read: (file, from = 0) => createReadStream(join(root, file), { start: from }),
      slice: (file, start, end) => readSlice(join(root, file), start, end),
    },
  };
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

function noFolder(error: unknown): [] {
  if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return [];
  throw error;
}
