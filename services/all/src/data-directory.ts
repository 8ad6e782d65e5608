import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { claimFolder, isStartError, startError } from "@tidemark/local";

const MARKER = "tidemark.json";
const LOCK = "in-use.lock";
const FORMAT = 1;

/** The data folder of a running Tidemark, taken for this process. */
export type DataDirectory = {
  /** Releases the folder to other processes. */
  release(): Promise<void>;
};

async function contents(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name !== LOCK);
}

/** Checks that the folder is empty, or a data folder of the format that this version reads. @throws StartError */
async function check(directory: string, names: readonly string[], fresh: boolean): Promise<void> {
  if (names.length === 0) return;
  if (!names.includes(MARKER)) {
    throw startError(`${directory} is not empty and not a Tidemark data folder: choose another with --data-dir`);
  }
  if (fresh) return;
  const { format } = JSON.parse(await readFile(join(directory, MARKER), "utf8")) as { format?: unknown };
  if (format === FORMAT) return;
  const written = `it was written by another version of Tidemark (format ${JSON.stringify(format)}`;
  throw startError(`${directory} cannot be opened: ${written}, this one reads ${FORMAT})`);
}

/**
 * Takes the data folder for this process; creates it when it is missing. With `fresh` deletes everything in it, but only
 * after the process has taken it and only if it is a data folder.
 * @throws StartError in one line: in use, not a data folder, another format, not writable
 */
export async function openDataDirectory(directory: string, fresh: boolean): Promise<DataDirectory> {
  const claim = await claimFolder(directory);
  try {
    const names = await contents(directory);
    await check(directory, names, fresh);
    if (fresh) await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })));
    await writeFile(join(directory, MARKER), `${JSON.stringify({ format: FORMAT })}\n`);
    return claim;
  } catch (error) {
    await claim.release();
    if (isStartError(error)) throw error;
    throw startError(`the data folder ${directory} cannot be used: ${(error as Error).message}`);
  }
}
