import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, statfs, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { explainFailure, isStartError, startError } from "./failures.mjs";
import { findNpm, runCaptured } from "./programs.mjs";
import { withLock } from "./lock.mjs";

/**
 * @typedef {object} PackageRequest
 * @property {string} name of a package of the npm registry
 * @property {string} version exact
 * @property {string} [integrity] the checksum that the registry's tarball must have, as lock files write it
 * @property {string} title the name for people, in progress lines and errors
 * @property {string} cacheDir see cacheDirectory
 * @property {(line: string) => void} log progress lines
 * @property {NodeJS.ProcessEnv} env the environment that npm runs in
 * @property {(packageDir: string) => Promise<void>} [prepare] runs once on the fetched package, before it is in the cache
 * @property {AbortSignal} [signal]
 */

/**
 * Returns the folder of one package of the npm registry in the shared cache, and fetches the package if it is missing. Its
 * install scripts never run. Any number of processes may ask simultaneously: one fetches, the others wait for it; the package
 * appears complete or not at all, whenever the fetching process dies.
 *
 * @param {PackageRequest} request
 * @returns {Promise<string>} absolute path of the package's folder
 * @throws StartError in one line: no npm, no network, no such version, cache not writable, disk full
 */
export const fetchPackage = async (request) => {
  const { name, version, title, cacheDir, log, signal } = request;
  const folder = join(packagesFolder(cacheDir), `${fileName(name)}@${version}`);
  const packageDir = join(folder, "node_modules", name);
  if (existsSync(packageDir)) return packageDir;
  try {
    await mkdir(dirname(folder), { recursive: true });
    return await withLock(
      `${folder}.lock`,
      async () => {
        if (!existsSync(packageDir)) await install(request, folder);
        return packageDir;
      },
      { signal, onWait: () => log(`Waiting for another Tidemark that is fetching ${title}`) },
    );
  } catch (error) {
    if (isStartError(error) || signal?.aborted) throw error;
    const cause = explainFailure(String(error));
    if (cause === undefined) throw error;
    throw startError(
      `${title} cannot be kept in the cache folder ${cacheDir}: ${cause} (TIDEMARK_CACHE_DIR names another folder)`,
      error,
    );
  }
};

/**
 * Returns all versions of a package in the npm registry.
 *
 * @param {{ name: string, title: string, env: NodeJS.ProcessEnv, signal?: AbortSignal }} request
 * @returns {Promise<string[]>}
 * @throws StartError in one line: no npm, no network, no such package
 */
export const packageVersions = async ({ name, title, env, signal }) => {
  const npm = npmOrThrow(title, env);
  const args = [...npm.args, "view", name, "versions", "--json", ...quietNpm];
  const result = await runCaptured(npm.command, args, { env: cleanEnvironment(env), signal });
  if (result.code !== 0) throw startError(`${title} could not be looked up: ${npmFailure(result.output)}`);
  const versions = JSON.parse(result.stdout);
  return Array.isArray(versions) ? versions : [versions];
};

/**
 * Returns the versions of a package in the cache.
 *
 * @param {{ name: string, cacheDir: string }} request
 * @returns {Promise<string[]>}
 */
export const fetchedVersions = async ({ name, cacheDir }) => {
  const prefix = `${fileName(name)}@`;
  const entries = await readdir(packagesFolder(cacheDir)).catch(() => /** @type {string[]} */ ([]));
  return entries
    .filter((entry) => entry.startsWith(prefix))
    .map((entry) => entry.slice(prefix.length))
    .filter((version) => existsSync(join(packagesFolder(cacheDir), prefix + version, "node_modules", name)));
};

/** @param {string} cacheDir */
const packagesFolder = (cacheDir) => join(cacheDir, "packages");

/** @param {string} name */
const fileName = (name) => name.replace("/", "+");

const quietNpm = [
  "--loglevel=error",
  "--no-update-notifier",
  "--fetch-retries=2",
  "--fetch-retry-mintimeout=1000",
  "--fetch-retry-maxtimeout=5000",
];

/**
 * @param {PackageRequest} request
 * @param {string} folder where the result goes; the caller holds its lock
 */
const install = async ({ name, version, integrity, title, cacheDir, log, env, prepare, signal }, folder) => {
  const npm = npmOrThrow(title, env);
  const staging = `${folder}.partial-`;
  for (const left of await readdir(dirname(folder))) {
    if (left.startsWith(basename(staging))) await rm(join(dirname(folder), left), { recursive: true, force: true });
  }
  const staged = await mkdtemp(staging);
  try {
    // Several accounts may share a cache; mkdtemp makes folders that only one can read.
    await chmod(staged, 0o755);
    // With this lock file npm checks the pinned checksum; a plain "npm install NAME" would not.
    const dependencies = { [name]: version };
    const lock = {
      name: "tidemark-cache",
      lockfileVersion: 3,
      requires: true,
      packages: { "": { dependencies }, [`node_modules/${name}`]: { version, integrity } },
    };
    await writeFile(join(staged, "package.json"), JSON.stringify({ private: true, dependencies }));
    await writeFile(join(staged, "package-lock.json"), JSON.stringify(lock));
    log(`Fetching ${title} (once)`);
    const started = Date.now();
    const result = await runCaptured(
      npm.command,
      [...npm.args, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--global=false", ...quietNpm],
      {
        cwd: staged,
        env: cleanEnvironment(env),
        signal,
        onStillRunning: (seconds) => log(`Still fetching ${title} (${seconds} s)`),
      },
    );
    const packageDir = join(staged, "node_modules", name);
    // On a full disk, npm has left truncated files and reported success.
    if (await isDiskFull(staged)) throw startError(`${title} could not be fetched: the disk with ${cacheDir} is full`);
    if (result.code !== 0 || !existsSync(packageDir)) {
      throw startError(`${title} could not be fetched: ${npmFailure(result.output)}`);
    }
    await prepare?.(packageDir);
    await rename(staged, folder);
    log(`Fetched ${title} (${Math.round((Date.now() - started) / 1000)} s)`);
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
};

/** @param {string} folder */
const isDiskFull = async (folder) => {
  const { bsize, bfree, bavail } = await statfs(folder);
  // Only root may use the last few percent.
  const blocks = process.getuid?.() === 0 ? bfree : bavail;
  return blocks * bsize < 2 ** 20;
};

/**
 * @param {string} title
 * @param {NodeJS.ProcessEnv} env
 */
const npmOrThrow = (title, env) => {
  const npm = findNpm({ env, execPath: process.execPath });
  if (npm === undefined) {
    throw startError(
      `${title} is needed, and there is no npm to fetch it with: install Node.js with npm, or put npm on PATH`,
    );
  }
  return npm;
};

/**
 * Removes what npm tells the scripts that it runs (this process may be one): it is about another package.
 *
 * @param {NodeJS.ProcessEnv} env
 */
const cleanEnvironment = (env) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_(package|lifecycle)_|^INIT_CWD$/.test(name)));

/** @param {string} output */
const npmFailure = (output) => {
  const lines = output.split("\n").map((line) => line.replace(/^npm (ERR!|error) ?/, "").trim());
  return explainFailure(output) ?? lines.find((line) => line !== "" && !line.startsWith("code ")) ?? "npm failed";
};
