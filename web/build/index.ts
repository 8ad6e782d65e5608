import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { INDEX_FILE, type EmbedParts } from "./bundle-index.ts";
import { sourceHash } from "./source-hash.ts";
import { writeBundle } from "./write-bundle.ts";

export { INDEX_FILE, type BundleFile, type BundleIndex, type EmbedParts } from "./bundle-index.ts";

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

/** Bundles the page of embedded views of the sources as they are now. @throws Error that names the fault in the sources */
export async function bundleEmbed(): Promise<EmbedParts> {
  // Where there is a bundle nothing needs the bundler.
  const { bundleEmbed: build } = await import("./bundle-embed.ts");
  return build();
}

async function removeOld(all: string): Promise<void> {
  const before = Date.now() - KEPT_DAYS * 86_400_000;
  for (const name of await readdir(all)) {
    const { mtimeMs } = await stat(join(all, name));
    if (mtimeMs < before) await rm(join(all, name), { recursive: true, force: true });
  }
}
