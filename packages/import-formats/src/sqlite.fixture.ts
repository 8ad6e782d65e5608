import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteQuery, type Query } from "./sql-rows.ts";

/** Opens the bytes of a SQLite database read-only while `use` runs. A database that cannot be opened fails at its first row. */
export async function withDatabase<Result>(bytes: Uint8Array, use: (query: Query) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "import-formats-"));
  const path = join(folder, "copy.db");
  writeFileSync(path, bytes);
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return await use(sqliteQuery(database));
  } finally {
    database.close();
    rmSync(folder, { recursive: true });
  }
}
