import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { INDEX_FILE } from "./bundle-index.ts";

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
