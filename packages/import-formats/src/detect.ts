import type { FileTree, Query, TreePath } from "./file-tree.ts";
import { formats, type ImportFormat } from "./formats.ts";
import { sqlRows, textColumn } from "./sql-rows.ts";
import { joinPath, walkFolders } from "./walk-tree.ts";
import { createWarnings } from "./warnings.ts";

/** The content of a path: files of a format, or a database, whose format `detectDatabase` returns. */
export type Detected = {
  readonly format: ImportFormat | "sqlite";
  /** The first file or folder that shows it, relative to the root. */
  readonly shownBy: TreePath;
};

/** Files that are looked at. */
const FILES_MAX = 100_000;

const isDatabaseName = (name: string): boolean => /\.(?:db|sqlite3?)$/.test(name);

/** In the order of preference. */
const shown: readonly Detected["format"][] = [
  ...new Set(formats.map((format) => (format.folder === undefined ? "sqlite" : format))),
];

const isShownBy = (format: Detected["format"], name: string, names: ReadonlySet<string>): boolean =>
  format === "sqlite" ? isDatabaseName(name) : format.folder?.isShownBy(name, names) === true;

/** Returns what a path holds; undefined if no reader supports it. */
export async function detect(tree: FileTree): Promise<Detected | undefined> {
  const found = new Map<Detected["format"], TreePath>();
  let looked = 0;
  for await (const { path, files } of walkFolders(tree, createWarnings())) {
    const names = new Set((await tree.list(path)).map(({ name }) => name));
    for (const { name } of files) {
      const format = shown.find((known) => isShownBy(known, name, names));
      if (format !== undefined && !found.has(format)) found.set(format, joinPath(path, name));
    }
    looked += files.length;
    if (found.has(shown[0]!) || looked > FILES_MAX) break;
  }
  const format = shown.find((known) => found.has(known));
  return format === undefined ? undefined : { format, shownBy: found.get(format)! };
}

/** Returns whose format a SQLite database has, by its tables; undefined for unsupported trackers. */
export function detectDatabase(query: Query): ImportFormat | undefined {
  const rows = sqlRows(query, createWarnings(), "SELECT name FROM sqlite_master WHERE type = 'table'");
  const tables = new Set(Array.from(rows, (row) => textColumn(row, "name")));
  return formats.find(({ database }) => database?.tables.every((table) => tables.has(table)) === true);
}
