import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { compareTrees, type FileTree, readTree, type TreeDifference, writeTree } from "./tree.ts";

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
