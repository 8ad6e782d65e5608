import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleEmbed, INDEX_FILE, type BundleFile, type BundleIndex, type EmbedParts } from "@tidemark/web/build";

/** A file of the dashboard in memory, plain and compressed. */
export type Asset = Pick<BundleFile, "name" | "type"> & { readonly plain: Buffer; readonly compressed: Buffer };

/** The dashboard as it is served. */
export type Bundle = Omit<BundleIndex, "files"> & { readonly assets: ReadonlyMap<string, Asset> };

/**
 * Reads a bundle into memory: a few hundred KB, and nothing of a request's path ever reaches the file system.
 * @throws Error when the folder does not hold a complete bundle
 */
export async function readBundle(folder: string): Promise<Bundle> {
  const index = JSON.parse(await readFile(join(folder, INDEX_FILE), "utf8")) as BundleIndex;
  const { files, ...rest } = index;
  const assets = await Promise.all(
    files.map(async ({ name, type, bytes, gzipBytes }): Promise<Asset> => {
      const [plain, compressed] = await Promise.all([
        readFile(join(folder, name)),
        readFile(join(folder, `${name}.gz`)),
      ]);
      if (plain.length !== bytes || compressed.length !== gzipBytes)
        throw new Error(`${join(folder, name)} is not what the index of the dashboard says`);
      return { name, type, plain, compressed };
    }),
  );
  return { ...rest, assets: new Map(assets.map((asset) => [asset.name, asset])) };
}

/** Returns a function that gives the parts of the page of embedded views: those of the bundle; without one, the first page that is shown makes them. */
export function embedPartsOf(bundle: Bundle | undefined): () => Promise<EmbedParts> {
  let parts: Promise<EmbedParts> | undefined = bundle && Promise.resolve(bundle.embed);
  return () => (parts ??= bundleEmbed());
}
