import { glob, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { SchemaModule, ServiceFile } from "./schema-reads.ts";

/** Returns every module with a database, as its definition says. Loads the whole product. */
export async function readSchemaModules(root: string): Promise<readonly SchemaModule[]> {
  const { allModules } = await import("@tidemark/all");
  return allModules.flatMap(({ name, schema, migrations, reads = [] }) => {
    if (schema === undefined || migrations === undefined) return [];
    const [folder = ""] = relative(root, migrations.directory).split(sep).join("/").split("/src/");
    return [{ name, folder, schema, reads }];
  });
}

/** Reads the TypeScript and SQL of all services, in the order of their paths. */
export async function readServiceFiles(root: string): Promise<readonly ServiceFile[]> {
  const found = await Array.fromAsync(glob("services/*/src/**/*.{ts,sql}", { cwd: root }));
  const paths = found.map((path) => path.split(sep).join("/")).toSorted();
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), "utf8") })));
}
