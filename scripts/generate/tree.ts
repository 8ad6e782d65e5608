import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

/** The files of a folder: paths relative to it, with forward slashes, and their text. */
export type FileTree = ReadonlyMap<string, string>;

/** How a folder differs from what was expected of it; each list is sorted. */
export type TreeDifference = {
  readonly missing: readonly string[];
  readonly changed: readonly string[];
  readonly unexpected: readonly string[];
};

/** Reads a folder and everything below it as UTF-8. A folder that does not exist is an empty tree. */
export async function readTree(folder: string): Promise<FileTree> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return new Map(files.map((file, index) => [relative(folder, file).split(sep).join("/"), texts[index] ?? ""]));
}

/** Returns what has to change for `actual` to equal `expected`. */
export function compareTrees(expected: FileTree, actual: FileTree): TreeDifference {
  const wanted = [...expected.keys()].toSorted();
  return {
    missing: wanted.filter((path) => !actual.has(path)),
    changed: wanted.filter((path) => actual.has(path) && actual.get(path) !== expected.get(path)),
    unexpected: [...actual.keys()].filter((path) => !expected.has(path)).toSorted(),
  };
}

/**
 * Makes a folder equal to `expected` and returns what it changed. Files that are already right are not touched, so that a
 * process that runs from the folder never finds one of them missing or half written.
 */
export async function writeTree(folder: string, expected: FileTree): Promise<TreeDifference> {
  const difference = compareTrees(expected, await readTree(folder));
  for (const path of [...difference.missing, ...difference.changed]) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, expected.get(path) ?? "");
  }
  for (const path of difference.unexpected) await rm(join(folder, path));
  return difference;
}
