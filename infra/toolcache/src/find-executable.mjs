import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * The first file of that name on a PATH that this process may execute, or undefined. Relative entries of PATH are skipped:
 * what they name depends on where the command was typed.
 *
 * @param {string} name a plain file name
 * @param {string | undefined} path the value of PATH
 * @returns {string | undefined} absolute path
 */
export const findExecutable = (name, path) =>
  (path ?? "")
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isExecutable);

/** @param {string} file */
const isExecutable = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};
