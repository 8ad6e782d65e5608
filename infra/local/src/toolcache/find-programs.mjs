import { accessSync, constants, existsSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";

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

/**
 * Returns how to run the machine's npm: the one that started this process (npm says so in `npm_execpath`), else the one
 * beside this Node, else the first on PATH; undefined when there is none.
 *
 * @param {{ env: Record<string, string | undefined>, execPath: string, exists?: (path: string) => boolean }} machine
 * @returns {{ command: string, args: string[] } | undefined}
 */
export const findNpm = ({ env, execPath, exists = existsSync }) => {
  const running = env["npm_execpath"];
  // pnpm and yarn set the same variable to themselves.
  if (running && basename(running) === "npm-cli.js" && exists(running)) return { command: execPath, args: [running] };
  const beside = join(dirname(execPath), "../lib/node_modules/npm/bin/npm-cli.js");
  if (exists(beside)) return { command: execPath, args: [beside] };
  const onPath = findExecutable("npm", env["PATH"]);
  return onPath === undefined ? undefined : { command: onPath, args: [] };
};
