import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/**
 * Returns the first file of that name on a PATH that this process may execute, or undefined. It skips relative entries of
 * PATH: what they name depends on the current folder.
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
