import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { glob, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { INDEX_FILE, type EmbedParts } from "./bundle-index.ts";

export { INDEX_FILE, type BundleFile, type BundleIndex, type EmbedParts } from "./bundle-index.ts";

const web = join(import.meta.dirname, "..");

/** Days after which the bundle of other sources is removed. */
const KEPT_DAYS = 30;

/**
 * Returns the folder with the bundle of the sources as they are now: the one that is in the cache folder, or one that is made there, which
 * takes under a second. Several processes may do so simultaneously. @throws Error that names the fault in the sources, or of the file system
 */
export async function obtainBundle(cacheFolder: string): Promise<string> {
  const all = join(cacheFolder, "dashboard");
  const folder = join(all, await sourceHash());
  if (existsSync(join(folder, INDEX_FILE))) return folder;
  const own = join(all, `partial-${randomUUID()}`);
  try {
    await writeBundle(own);
    await rename(own, folder);
  } catch (error) {
    await rm(own, { recursive: true, force: true });
    // Another process was faster.
    if (!existsSync(join(folder, INDEX_FILE))) throw error;
  }
  await removeOld(all);
  return folder;
}

/** Bundles the dashboard into a folder, the index last. @throws Error that names the fault in the sources */
export async function writeBundle(folder: string): Promise<void> {
  // Once it is there nothing needs the bundler.
  const { bundle } = await import("./bundle.ts");
  const { index, files } = await bundle();
  await mkdir(folder, { recursive: true });
  await Promise.all(
    files.flatMap(({ name, content, compressed }) => [
      writeFile(join(folder, name), content),
      writeFile(join(folder, `${name}.gz`), compressed),
    ]),
  );
  await writeFile(join(folder, INDEX_FILE), JSON.stringify(index));
}

/** Bundles the page of embedded views of the sources as they are now. @throws Error that names the fault in the sources */
export async function bundleEmbed(): Promise<EmbedParts> {
  // Where there is a bundle nothing needs the bundler.
  const { bundleEmbed: build } = await import("./bundle.ts");
  return build();
}

/** Returns a hash of all that the bundle depends on: the sources, how they are bundled, and the versions of libraries. */
async function sourceHash(): Promise<string> {
  const found = await Array.fromAsync(
    glob(["src/**/*", "build/**/*.ts", "package.json"], { cwd: web, withFileTypes: true }),
  );
  const paths = found
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name));
  const all = [...paths.toSorted(), join(web, "../pnpm-lock.yaml")];
  const contents = await Promise.all(all.map((path) => readFile(path)));
  const hash = createHash("sha256").update(process.version);
  all.forEach((path, i) => {
    hash.update(`\0${path.slice(web.length).split(sep).join("/")}\0${contents[i]!.length}\0`).update(contents[i]!);
  });
  return hash.digest("hex").slice(0, 16);
}

async function removeOld(all: string): Promise<void> {
  const before = Date.now() - KEPT_DAYS * 86_400_000;
  for (const name of await readdir(all)) {
    const { mtimeMs } = await stat(join(all, name));
    if (mtimeMs < before) await rm(join(all, name), { recursive: true, force: true });
  }
}
