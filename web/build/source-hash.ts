import { createHash } from "node:crypto";
import { glob, readFile } from "node:fs/promises";
import { join, sep } from "node:path";

const web = join(import.meta.dirname, "..");

/** Returns a hash of all that the bundle depends on: the sources, how they are bundled, and the versions of libraries. */
export async function sourceHash(): Promise<string> {
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
