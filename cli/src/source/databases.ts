import { basename, dirname, join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readdir } from "node:fs/promises";
import { detectDatabase, readMlflowDatabase, readTrackio, sqliteQuery, type Item } from "@tidemark/import-formats";

/** Whose a database is. */
export type DatabaseOwner = "mlflow" | "trackio";

/** Returns which tracker owns a database; undefined for an unsupported tracker, or if it is not a database. */
export function ownerOf(path: string): DatabaseOwner | undefined {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return detectDatabase(sqliteQuery(database));
  } finally {
    database.close();
  }
}

/** Returns a database and those of the same owner next to it; trackio has one for each project. */
export async function databasesBeside(path: string, owner: DatabaseOwner, alone: boolean): Promise<string[]> {
  if (alone || owner === "mlflow") return [path];
  const names = (await readdir(dirname(path))).filter((name) => name.endsWith(".db")).toSorted();
  return names.map((name) => join(dirname(path), name)).filter((beside) => ownerOf(beside) === owner);
}

/** Reads the runs of databases, one after another. */
export async function* readDatabases(
  root: string,
  paths: readonly string[],
  owner: DatabaseOwner,
): AsyncGenerator<Item> {
  for (const path of paths) {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      if (owner === "mlflow") yield* readMlflowDatabase(sqliteQuery(database));
      else yield* inFolder(readTrackio(sqliteQuery(database), basename(path, ".db")), relative(root, dirname(path)));
    } finally {
      database.close();
    }
  }
}

/** Files of trackio are named by their place next to the database. */
function* inFolder(items: Iterable<Item>, folder: string): Generator<Item> {
  for (const item of items) {
    if (folder !== "" && item.kind === "object" && "file" in item && "path" in item.file) {
      yield { ...item, file: { ...item.file, path: join(folder, item.file.path) } };
    } else yield item;
  }
}
