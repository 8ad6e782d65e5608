import { readFile, writeFile, mkdir, readdir, rm } from "node:fs/promises";
import { join, dirname, relative, sep } from "node:path";

/** Something committed that a program writes; a person changes its source and then runs `npm run generate`. */
export type Generated = {
  /** Its name in the output of `npm test`. */
  readonly name: string;
  /** Returns the outdated parts, one line each; empty when everything is up to date. Writes nothing. */
  readonly check: () => Promise<readonly string[]>;
  /** Updates it and returns the changes, one line each. */
  readonly write: () => Promise<readonly string[]>;
};

const describe = (folder: string, { missing, changed, unexpected }: TreeDifference): readonly string[] => [
  ...missing.map((path) => `missing: ${folder}/${path}`),
  ...changed.map((path) => `out of date: ${folder}/${path}`),
  ...unexpected.map((path) => `no longer generated: ${folder}/${path}`),
];

/** A folder, relative to `root`, that holds exactly what `render` returns. */
export function generatedFolder(root: string, folder: string, render: () => Promise<FileTree>): Generated {
  const path = join(root, folder);
  return {
    name: folder,
    check: async () => describe(folder, compareTrees(await render(), await readTree(path))),
    write: async () => describe(folder, await writeTree(path, await render())),
  };
}

/** Several files that one program writes, by path below `root`; other files of their folders are left alone. */
export function generatedFiles(root: string, name: string, render: () => Promise<FileTree>): Generated {
  const each = async (act: (file: Generated) => Promise<readonly string[]>): Promise<readonly string[]> => {
    const files = [...(await render())].map(([path, text]) => generatedFile(root, path, () => text));
    const lines: string[] = [];
    for (const file of files) lines.push(...(await act(file)));
    return lines;
  };
  return { name, check: () => each((file) => file.check()), write: () => each((file) => file.write()) };
}

/**
 * A single file, relative to `root`. `render` gets the present text (undefined when the file is missing) and returns the
 * text that should be there, so that a part between two markers can be generated and the rest be written by hand.
 */
export function generatedFile(
  root: string,
  file: string,
  render: (current: string | undefined) => Promise<string> | string,
): Generated {
  const path = join(root, file);
  const faults = async (): Promise<{ wanted: string; lines: readonly string[] }> => {
    const current = await readFile(path, "utf8").catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    });
    const wanted = await render(current);
    if (wanted === current) return { wanted, lines: [] };
    return { wanted, lines: [current === undefined ? `missing: ${file}` : `out of date: ${file}`] };
  };
  return {
    name: file,
    check: async () => (await faults()).lines,
    write: async () => {
      const { wanted, lines } = await faults();
      if (lines.length > 0) await writeFile(path, wanted);
      return lines;
    },
  };
}

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
function compareTrees(expected: FileTree, actual: FileTree): TreeDifference {
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
