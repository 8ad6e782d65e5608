import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isStartError, startError } from "@tidemark/local";

const MARKER = "tidemark.json";
const FORMAT = 1;

async function entries(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/**
 * Makes the data folder, or checks that the one that is there is ours and of a format we know.
 * With `fresh` everything in it is deleted first, but only if it is a data folder.
 * @throws StartError in one line.
 */
export async function prepareDataDirectory(directory: string, fresh: boolean): Promise<void> {
  try {
    const before = await entries(directory);
    const ours = before.includes(MARKER);
    if (before.length > 0 && !ours) {
      throw startError(`${directory} is not empty and not a Tidemark data folder: choose another with --data-dir`);
    }
    if (ours) {
      const { format } = JSON.parse(await readFile(join(directory, MARKER), "utf8")) as { format?: unknown };
      if (format !== FORMAT && !fresh) {
        throw startError(
          `${directory} was written by another version of Tidemark (format ${String(format)}, this one reads ${FORMAT})`,
        );
      }
      if (fresh) await rm(directory, { recursive: true, force: true });
    }
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeFile(join(directory, MARKER), `${JSON.stringify({ format: FORMAT })}\n`);
  } catch (error) {
    if (isStartError(error)) throw error;
    throw startError(`the data folder ${directory} cannot be used: ${(error as Error).message}`);
  }
}
