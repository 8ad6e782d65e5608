import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fetchPackage, runCaptured, startError } from "../../infra/toolcache/src/index.mjs";
import { isNewEnough, toolsFor } from "./tools.mjs";

/** @typedef {{ cacheDir: string, log: (line: string) => void, signal: AbortSignal }} Surroundings */

/**
 * Returns a Node that can run the sources: the current one, if it is new enough, else the pinned one from the cache or the
 * npm registry.
 *
 * @param {Surroundings} surroundings
 * @returns {Promise<{ path: string, version: string }>}
 * @throws StartError
 */
export const obtainNode = async (surroundings) => {
  if (isNewEnough(process.versions.node)) return { path: process.execPath, version: process.versions.node };
  const { node } = tools();
  const packageDir = await fetchPackage({
    ...node,
    ...surroundings,
    env: process.env,
    async prepare(fetched) {
      await tryOut(join(fetched, node.executable), node.title);
      // A third of the package is headers for building native addons, which nothing here does.
      for (const unused of ["include", "share"]) await rm(join(fetched, unused), { recursive: true, force: true });
    },
  });
  return { path: join(packageDir, node.executable), version: node.version };
};

/**
 * Returns the pinned pnpm, from the cache or the npm registry.
 *
 * @param {Surroundings} surroundings
 * @returns {Promise<string>} path of the executable
 * @throws StartError
 */
export const obtainPnpm = async (surroundings) => {
  const { pnpm } = tools();
  const packageDir = await fetchPackage({
    ...pnpm,
    ...surroundings,
    env: process.env,
    prepare: (fetched) => tryOut(join(fetched, pnpm.executable), pnpm.title),
  });
  return join(packageDir, pnpm.executable);
};

const tools = () => {
  const found = toolsFor(process.platform, process.arch);
  if (found !== undefined) return found;
  const hint = process.platform === "win32" ? " (on Windows, use WSL)" : "";
  throw startError(
    `Tidemark runs on Linux and macOS, on x64 and arm64; this machine is ${process.platform} ${process.arch}${hint}`,
  );
};

/**
 * Runs a tool once before it enters the cache: a folder mounted noexec or an unsuitable C library (too old, or musl) would
 * otherwise show later and as another error.
 *
 * @param {string} executable
 * @param {string} title
 */
const tryOut = async (executable, title) => {
  const { code, output } = await runCaptured(executable, ["--version"], { cwd: dirname(executable) });
  if (code === 0) return;
  const reason = output.trim().split("\n")[0] || `it ended with code ${code}`;
  throw startError(`${title} does not run on this machine: ${reason}`);
};
