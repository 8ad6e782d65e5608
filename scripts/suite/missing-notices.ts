import { readFile } from "node:fs/promises";

/** The variable that tells the test kit in which file to note what the machine lacks. */
export const missingFileVariable = "TIDEMARK_MISSING_FILE";

/**
 * Returns what tests noted in that file: each line says what is missing and what was therefore not tested. Several processes
 * append to it, so repeated lines count once, in the order of their first occurrence. Without a file nothing is missing.
 */
export async function readMissingNotices(file: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  });
  return [...new Set(text.split("\n").map((line) => line.trim()))].filter((line) => line !== "");
}
