import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findExecutable } from "./find-executable.mjs";

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
