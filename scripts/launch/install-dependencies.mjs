import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { explainFailure, runCaptured, startError, withLock } from "../../infra/local/src/toolcache/index.mjs";
import { obtainPnpm } from "./tools.mjs";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";

/**
 * Installs the locked dependencies of the work tree, unless they are installed as the lock file and the manifests say. Two
 * launchers in one work tree take turns.
 *
 * @param {string} root
 * @param {{ path: string, version: string }} node
 * @param {{ cacheDir: string, log: (line: string) => void, signal: AbortSignal }} surroundings
 * @returns {Promise<void>}
 * @throws StartError
 */
export const installDependencies = async (root, node, surroundings) => {
  const stamp = dependencyStamp(root, node.version);
  const modules = join(root, "node_modules");
  const stampFile = join(modules, ".tidemark-stamp");
  if (await isInstalled(stampFile, stamp)) return;
  const { log, signal } = surroundings;
  const pnpm = await obtainPnpm(surroundings);
  try {
    await mkdir(modules, { recursive: true });
    await withLock(
      join(modules, ".tidemark-install.lock"),
      async () => {
        if (await isInstalled(stampFile, stamp)) return;
        await runInstall(root, node, pnpm, surroundings);
        await writeFile(`${stampFile}.new`, stamp);
        await rename(`${stampFile}.new`, stampFile);
      },
      { signal, onWait: () => log("Waiting for another Tidemark that is installing the dependencies of this folder") },
    );
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    const cause = code === undefined ? undefined : explainFailure(code);
    throw cause === undefined ? error : startError(`${modules} cannot be written: ${cause}`, error);
  }
};

/**
 * @param {string} stampFile
 * @param {string} stamp
 */
const isInstalled = async (stampFile, stamp) => (await readFile(stampFile, "utf8").catch(() => "")) === stamp;

/**
 * @param {string} root
 * @param {{ path: string }} node
 * @param {string} pnpm
 * @param {{ log: (line: string) => void, signal: AbortSignal }} surroundings
 */
const runInstall = async (root, node, pnpm, { log, signal }) => {
  log("Installing the dependencies (once per lock file)");
  const started = Date.now();
  const { code, output } = await runCaptured(
    pnpm,
    // Without a terminal pnpm would refuse to replace a node_modules that another version of it has laid out.
    [
      "install",
      "--frozen-lockfile",
      "--prefer-offline",
      "--reporter=append-only",
      "--config.confirmModulesPurge=false",
    ],
    {
      cwd: root,
      env: { ...process.env, PATH: `${dirname(node.path)}:${process.env["PATH"] ?? ""}` },
      signal,
      onStillRunning: (seconds) => log(`Still installing the dependencies (${seconds} s)`),
    },
  );
  // pnpm continues without an optional package that it could not fetch. Some of ours (the server for this platform) are
  // optional only because other platforms do not need them.
  if (code !== 0 || /is an optional dependency that could not be/.test(output)) {
    throw startError(`the dependencies could not be installed: ${pnpmFailure(output)}`);
  }
  log(`Installed the dependencies (${Math.round((Date.now() - started) / 1000)} s)`);
};

/** @param {string} output */
const pnpmFailure = (output) => {
  if (/ERR_PNPM_OUTDATED_LOCKFILE/.test(output)) {
    return 'pnpm-lock.yaml does not fit the package.json files; "pnpm install" brings it up to date';
  }
  const faults = output.split("\n").filter((line) => /ERR_PNPM|\berror\b|could not be fetched/i.test(line));
  return (
    explainFailure(output) ?? faults[0]?.trim() ?? `pnpm failed; its last words were: ${output.trim().slice(-500)}`
  );
};

/**
 * Returns a fingerprint of everything that decides what belongs in node_modules: the lock file, the workspace file, every
 * manifest of the workspace, and the Node that packages are installed for.
 *
 * @param {string} root the work tree
 * @param {string} nodeVersion
 * @returns {string} hexadecimal
 */
export const dependencyStamp = (root, nodeVersion) => {
  const hash = createHash("sha256").update(`node ${nodeVersion} ${process.platform} ${process.arch}`);
  for (const path of ["pnpm-lock.yaml", "pnpm-workspace.yaml", ...manifests(root)]) {
    hash.update(`\n${path}\n`).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
};

/**
 * Returns the manifests of the workspace, as sorted paths from its root.
 *
 * @param {string} root
 * @returns {string[]}
 */
export const manifests = (root) => {
  const patterns = workspacePatterns(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8"));
  const folders = patterns.flatMap((pattern) => {
    if (!pattern.endsWith("/*")) return [pattern];
    const parent = pattern.slice(0, -2);
    return existsSync(join(root, parent)) ? readdirSync(join(root, parent)).map((name) => `${parent}/${name}`) : [];
  });
  return ["", ...folders.map((folder) => `${folder}/`)]
    .map((folder) => `${folder}package.json`)
    .filter((path) => existsSync(join(root, path)))
    .sort();
};

/**
 * Returns the `packages:` of a pnpm-workspace.yaml. It knows the two forms of pattern that this workspace has, a folder and
 * `folder/*`, and throws for others: a manifest must not be overlooked. Pure.
 *
 * @param {string} yaml
 * @returns {string[]}
 */
export const workspacePatterns = (yaml) => {
  const lines = yaml.split("\n");
  const start = lines.indexOf("packages:") + 1;
  const length = lines.slice(start).findIndex((line) => !/^\s+-\s|^\s*(#.*)?$/.test(line));
  return lines
    .slice(start, length === -1 ? undefined : start + length)
    .filter((line) => /^\s+-\s/.test(line))
    .map((line) =>
      line
        .replace(/^\s+-\s+/, "")
        .replace(/^(["'])(.*)\1\s*$/, "$2")
        .trim(),
    )
    .map((pattern) => {
      if (!/^[\w./-]+?(\/\*)?$/.test(pattern))
        throw new Error(`pnpm-workspace.yaml: the pattern ${pattern} is not understood`);
      return pattern;
    });
};
