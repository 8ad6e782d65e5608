import { TABLE_COLUMNS_MAX, TABLE_ROWS_MAX } from "@tidemark/limits";
import type { JsonObject, JsonValue } from "./items.ts";
import { jsonObject } from "./json.ts";

/** The rows of a table that an object holds, and how many there are altogether. */
export type TableRows = { readonly rows: readonly JsonObject[]; readonly total: number };

/**
 * Returns a table of named columns and lists of cells, cut to the rows and columns that an object may have; undefined where the values are not of that form.
 * Columns without a name have their number.
 */
export function tableOf(columns: JsonValue | undefined, data: JsonValue | undefined): TableRows | undefined {
  if (!Array.isArray(columns) || !Array.isArray(data) || !data.every(Array.isArray)) return undefined;
  const names = columns.slice(0, TABLE_COLUMNS_MAX).map((name) => (typeof name === "string" ? name : String(name)));
  const rows = (data as readonly (readonly JsonValue[])[])
    .slice(0, TABLE_ROWS_MAX)
    .map((cells) => jsonObject(names.map((name, i) => [name, cells[i] ?? null] as const)));
  return { rows, total: data.length };
}
