import { basename, dirname, join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readdir } from "node:fs/promises";
import { detectDatabase, sqliteQuery, type ImportFormat, type Item } from "@tidemark/import-formats";

/** A format with databases. */
export type DatabaseFormat = ImportFormat & Required<Pick<ImportFormat, "database">>;

/** Returns the format of a database; undefined for an unsupported tracker, or if it is not a database. */
export function formatOfDatabase(path: string): DatabaseFormat | undefined {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const format = detectDatabase(sqliteQuery(database));
    return format?.database === undefined ? undefined : { ...format, database: format.database };
  } finally {
    database.close();
  }
}

/** Returns a database, and those of other projects next to it. */
export async function databasesBeside(
  path: string,
  { kind, database }: DatabaseFormat,
  alone: boolean,
): Promise<string[]> {
  if (alone || !database.isOfProject) return [path];
  const names = (await readdir(dirname(path))).filter((name) => name.endsWith(".db")).toSorted();
  return names.map((name) => join(dirname(path), name)).filter((beside) => formatOfDatabase(beside)?.kind === kind);
}

/** Reads the runs of databases, one after another. */
export async function* readDatabases(
  root: string,
  paths: readonly string[],
  { database: { read, isOfProject } }: DatabaseFormat,
): AsyncGenerator<Item> {
  for (const path of paths) {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const items = read(sqliteQuery(database), basename(path, ".db"));
      if (isOfProject) yield* inFolder(items, relative(root, dirname(path)));
      else yield* items;
    } finally {
      database.close();
    }
  }
}

/** Names files by their place next to the database. */
async function* inFolder(items: Iterable<Item> | AsyncIterable<Item>, folder: string): AsyncGenerator<Item> {
  for await (const item of items) {
    if (folder !== "" && item.kind === "object" && "file" in item && "path" in item.file) {
      yield { ...item, file: { ...item.file, path: join(folder, item.file.path) } };
    } else yield item;
  }
}
